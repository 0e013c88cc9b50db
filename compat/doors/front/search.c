// SPDX-License-Identifier: BSD-3-Clause
// Where the program's own library is. Of both doors: DOOR_HEADER is the one's header.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include DOOR_HEADER

struct paths {
  int n;
  char path[8][1024];
};

static int note_library(struct dl_phdr_info* info, size_t size, void* noted) {
  (void)size;
  struct paths* paths = noted;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* base = slash != NULL ? slash + 1 : info->dlpi_name;
  if (strncmp(base, DOOR_LIBRARY_FILE, strlen(DOOR_LIBRARY_FILE)) == 0 &&
      strlen(info->dlpi_name) < sizeof paths->path[0])
    strcpy(paths->path[paths->n++], info->dlpi_name);
  return paths->n == 8;
}

// A library that was loaded for one library alone; NULL: none.
static void* loaded_for_others(void) {
  struct paths paths = {0};
  dl_iterate_phdr(note_library, &paths);
  for (int i = 0; i < paths.n; ++i) {
    void* library = dlopen(paths.path[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL && dlsym(library, DOOR_EVERY_LIBRARY) != NULL) return library;
    if (library != NULL) dlclose(library);
  }
  return NULL;
}

void* door_library_symbol(const char* name) {
  static int asked = 0;
  static void* other = NULL;
  if (!asked) {
    if (dlsym(RTLD_NEXT, DOOR_EVERY_LIBRARY) == NULL) other = loaded_for_others();
    asked = 1;
  }
  return other != NULL ? dlsym(other, name) : dlsym(RTLD_NEXT, name);
}
