// Where ranks of the world serve, the tests' world are the ranks that compute: what MPI is asked of
// MPI_COMM_WORLD goes to their communicator, through MPI's interface for profilers.
#include "support/served_world.hpp"

#include <cstdlib>

#include "comm/nodes.hpp"
#include "dataset/settings/settings.hpp"

namespace {

MPI_Comm g_world = MPI_COMM_NULL;

MPI_Comm instead_of(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD && g_world != MPI_COMM_NULL ? g_world : comm;
}

}  // namespace

extern "C" {

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return PMPI_Comm_rank(instead_of(comm), rank);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return PMPI_Comm_size(instead_of(comm), size);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* out) {
  return PMPI_Comm_dup(instead_of(comm), out);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* out) {
  return PMPI_Comm_split(instead_of(comm), color, key, out);
}
int MPI_Comm_compare(MPI_Comm a, MPI_Comm b, int* result) {
  return PMPI_Comm_compare(instead_of(a), instead_of(b), result);
}
int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* there) {
  return PMPI_Comm_get_attr(instead_of(comm), key, value, there);
}
int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  return PMPI_Comm_set_attr(instead_of(comm), key, value);
}
int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(instead_of(comm));
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return PMPI_Ibarrier(instead_of(comm), request);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return PMPI_Bcast(data, count, type, root, instead_of(comm));
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return PMPI_Allreduce(from, to, count, type, op, instead_of(comm));
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
  return PMPI_Allgather(from, count, type, to, to_count, to_type, instead_of(comm));
}
int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
               int root, MPI_Comm comm) {
  return PMPI_Gather(from, count, type, to, to_count, to_type, root, instead_of(comm));
}

}  // extern "C"

namespace shoal::testing {

namespace {
bool go_on_with(MPI_Comm computing) {
  g_world = computing;
  return computing != MPI_COMM_NULL;
}
}  // namespace

Served::Served(int servers, const ServeOptions& how)
    : computes(go_on_with(serve(MPI_COMM_WORLD, servers, how))) {}
Served::Served(const Role& role, const ServeOptions& how)
    : computes(go_on_with(serve_components(MPI_COMM_WORLD, role.component, how))) {}

Served::~Served() {
  if (!computes) return;
  if (!caught([] { stop_serving(); }).ok()) stop_serving_at_end();
  MPI_Comm_free(&g_world);  // and is MPI_COMM_NULL
}

int ranks_of_all() {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

Place place_in_world() {
  const auto ranks_per_node = resolve_settings("", {}).count("ranks_per_node");
  const Nodes nodes(Comm(MPI_COMM_WORLD), static_cast<int>(ranks_per_node));
  return {nodes.index(), nodes.node().rank(), nodes.node().size()};
}

int ranks_of_smallest_node() {
  return static_cast<int>(Comm(MPI_COMM_WORLD).min(place_in_world().size));
}

std::unique_ptr<Served> served_by_environment() {
  const char* text = std::getenv("TEST_SERVERS");
  return text == nullptr ? nullptr : std::make_unique<Served>(std::atoi(text));
}

}  // namespace shoal::testing
