/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ids. The kinds do not overlap, so that an id of a wrong kind is found, and an id comes again only after all
 * others of its kind, so that one that was given back is found too.
 */
#include <stdlib.h>

#include "internal.h"

typedef struct table {
  int first, step, limit; /* ids are first + i * step, i < limit */
  void** entries;         /* [room] */
  int room;
  int next; /* the slot to try first */
} table;

static table systems = {65536, 65536, SPIO_MAX_SYSTEMS, NULL, 0, 0};
static table files = {128, 1, SPIO_MAX_FILES, NULL, 0, 0};
static table decomps = {PIO_IODESC_START_ID, 1, PIO_IODESC_MAX_IDS, NULL, 0, 0};

static int grow(table* t, int room) {
  if (room <= t->room) return 0;
  int larger = t->room < 16 ? 16 : 2 * t->room;
  if (larger < room) larger = room;
  if (larger > t->limit) larger = t->limit;
  void** entries = realloc(t->entries, (size_t)larger * sizeof *entries);
  if (entries == NULL) return PIO_ENOMEM;
  for (int i = t->room; i < larger; ++i)
    entries[i] = NULL;
  t->entries = entries;
  t->room = larger;
  return 0;
}

static int add(table* t, void* entry) {
  for (int tried = 0; tried < t->limit; ++tried) {
    const int slot = (t->next + tried) % t->limit;
    if (grow(t, slot + 1) != 0) return PIO_ENOMEM;
    if (t->entries[slot] != NULL) continue;
    t->entries[slot] = entry;
    t->next = (slot + 1) % t->limit;
    return t->first + slot * t->step;
  }
  return PIO_ENFILE;
}

static int slot_of(const table* t, int id) {
  if (id < t->first || (id - t->first) % t->step != 0) return -1;
  const int slot = (id - t->first) / t->step;
  return slot < t->room ? slot : -1;
}

static void* find(const table* t, int id) {
  const int slot = slot_of(t, id);
  return slot < 0 ? NULL : t->entries[slot];
}

static void drop(table* t, int id) {
  const int slot = slot_of(t, id);
  if (slot >= 0) t->entries[slot] = NULL;
}

int spio_add_system(spio_system* system) {
  return add(&systems, system);
}

int spio_add_file(spio_file* file) {
  return add(&files, file);
}

int spio_add_decomp(spio_decomp* decomp) {
  return add(&decomps, decomp);
}

void spio_remove_system(int id) {
  drop(&systems, id);
}

void spio_remove_file(int id) {
  drop(&files, id);
}

void spio_remove_decomp(int id) {
  drop(&decomps, id);
}

spio_system* spio_system_of(int id) {
  return find(&systems, id);
}

spio_file* spio_file_of(int id) {
  return find(&files, id);
}

spio_decomp* spio_decomp_of(int id) {
  return find(&decomps, id);
}

spio_system* spio_only_system(void) {
  spio_system* found = NULL;
  for (int slot = 0; slot < systems.room; ++slot) {
    spio_system* system = systems.entries[slot];
    if (system == NULL || system->comm == MPI_COMM_NULL || system->size == 1) continue;
    if (found != NULL) return NULL;
    found = system;
  }
  return found;
}

spio_file* spio_only_file(void) {
  spio_file* found = NULL;
  for (int slot = 0; slot < files.room; ++slot) {
    spio_file* file = files.entries[slot];
    if (file == NULL || file->dataset == NULL || file->system->size == 1) continue;
    if (found != NULL) return NULL;
    found = file;
  }
  return found;
}

spio_file* spio_next_file(const spio_system* system, int after) {
  for (int slot = 0; slot < files.room; ++slot) {
    spio_file* file = files.entries[slot];
    if (file != NULL && (system == NULL || file->system == system) && file->id > after) return file;
  }
  return NULL;
}

spio_decomp* spio_next_decomp(const spio_system* system, int after) {
  for (int slot = 0; slot < decomps.room; ++slot) {
    spio_decomp* decomp = decomps.entries[slot];
    if (decomp != NULL && (system == NULL || decomp->system == system) && decomp->id > after) return decomp;
  }
  return NULL;
}
