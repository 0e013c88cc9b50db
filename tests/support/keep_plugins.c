// Preloaded into tests with the address sanitizer: a plugin of MPI stays in memory, so that what it never
// freed is known as its own (tools/suppressions/lsan.txt).
__attribute__((visibility("default"))) int dlclose(void* handle) {
  (void)handle;
  return 0;
}
