// Do nodes see each other's writes to a file at once, and does Shoal know it? TEST_SHARING: "coherent" or
// "cached", what the file system of the working folder was set up to be; as it is without.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "driver/file/shared_file.hpp"

using namespace shoal;

namespace {

std::string expected() {
  const char* text = std::getenv("TEST_SHARING");
  return text == nullptr ? "" : text;
}

struct Descriptor {
  int fd;
  explicit Descriptor(const char* path, int flags = O_RDWR) : fd(::open(path, flags, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  std::vector<char> read(std::size_t size) const {
    std::vector<char> bytes(size, '\xff');
    for (std::size_t done = 0; done < size;) {
      const ssize_t n = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(done));
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    return bytes;
  }
};

/// All ranks write pieces in turn, and read all of them after a barrier, with the file open all the time. The
/// bytes that this rank found wrong.
std::int64_t wrong_bytes(const Comm& comm, std::size_t piece, int pieces) {
  if (comm.rank() == 0) Descriptor("sharing.dat", O_RDWR | O_CREAT | O_TRUNC);
  comm.barrier();
  const Descriptor file("sharing.dat");
  const auto size = static_cast<std::size_t>(comm.size());
  const auto mark = [&](int round, std::size_t rank) {
    return static_cast<char>((static_cast<std::size_t>(round) * size + rank) % 127 + 1);
  };
  std::int64_t wrong = 0;
  for (int round = 0; round < 4; ++round) {
    const std::vector<char> mine(piece, mark(round, static_cast<std::size_t>(comm.rank())));
    for (int i = 0; i < pieces; ++i)
      CHECK(::pwrite(file.fd, mine.data(), piece,
                     static_cast<off_t>(piece) * (static_cast<off_t>(i) * comm.size() + comm.rank())) ==
            static_cast<ssize_t>(piece));
    comm.barrier();
    const auto all = file.read(piece * size * static_cast<std::size_t>(pieces));
    for (std::size_t at = 0; at < all.size(); ++at)
      wrong += all[at] != mark(round, at / piece % size) ? 1 : 0;
    comm.barrier();
  }
  return wrong;
}

/// Ranks in turn make the file longer while it is open, others ask for its size.
std::int64_t wrong_sizes(const Comm& comm) {
  if (comm.rank() == 0) Descriptor("sharing.dat", O_RDWR | O_CREAT | O_TRUNC);
  comm.barrier();
  const Descriptor file("sharing.dat");
  std::int64_t wrong = 0;
  for (int round = 0; round < 12; ++round) {
    struct stat status {};
    ::fstat(file.fd, &status);  // which may be kept
    comm.barrier();
    if (comm.rank() == round % comm.size()) CHECK(::pwrite(file.fd, "x", 1, 1000 * (round + 1) - 1) == 1);
    comm.barrier();
    ::fstat(file.fd, &status);
    wrong += status.st_size != 1000 * (round + 1) ? 1 : 0;
    comm.barrier();
  }
  return wrong;
}

/// Ranks in turn write a small file anew, or replace it by another, others open and read it.
std::int64_t wrong_files(const Comm& comm, bool replace) {
  std::int64_t wrong = 0;
  for (int round = 0; round < 12; ++round) {
    const std::string text(static_cast<std::size_t>(40 - round), static_cast<char>('a' + round));
    struct stat status {};
    ::stat("sharing.dat", &status);
    comm.barrier();
    if (comm.rank() == round % comm.size()) {
      if (replace) ::unlink("sharing.dat");
      const Descriptor file("sharing.dat", O_RDWR | O_CREAT | O_TRUNC);
      CHECK(::pwrite(file.fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    }
    comm.barrier();
    const Descriptor file("sharing.dat", O_RDONLY);
    const auto found = file.read(40);
    std::string whole = text;
    whole.resize(40, '\xff');
    wrong += std::string(found.begin(), found.end()) != whole ? 1 : 0;
    comm.barrier();
  }
  return wrong;
}

}  // namespace

TEST_CASE("nodes see each other's writes at once, or Shoal warns") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes nodes(comm, 0);
  struct {
    const char* what;
    std::int64_t wrong;
  } const found[] = {
      {"bytes within pages", comm.sum(wrong_bytes(comm, 1000, 20))},
      {"bytes of whole pages", comm.sum(wrong_bytes(comm, 32768, 4))},
      {"sizes", comm.sum(wrong_sizes(comm))},
      {"files written anew", comm.sum(wrong_files(comm, false))},
      {"files replaced", comm.sum(wrong_files(comm, true))},
  };
  std::string list;
  std::int64_t wrong = 0;
  for (const auto& [what, count] : found) {
    wrong += count;
    list += std::string(list.empty() ? "" : ", ") + what + " " + std::to_string(count);
  }
  const FileSystem rank_0 = [&] {
    ByteWriter out;
    pack(out, file_system_of("sharing.dat"));
    Bytes message = out.take();
    comm.broadcast(message, 0);
    ByteReader in(message);
    return unpack_file_system(in);
  }();
  const FileSystem where = as_nodes_have_it(comm, nodes, "sharing.dat", rank_0, file_system_of);
  const std::string warning = nodes.single() ? "" : sharing_warning(where, false);
  if (comm.rank() == 0) {
    std::string caches;
    for (const auto& cache : where.caches)
      caches += " " + cache;
    MESSAGE("sharing: ", where.type, ", wrong: ", list, "; caches:", caches.empty() ? " none" : caches);
    std::remove("sharing.dat");
  }
  if (expected() == "cached") {
    CHECK(where.sharing == FileSystem::Sharing::cached);
    CHECK(!where.caches.empty());
    CHECK(!warning.empty());
  } else {
    CHECK(wrong == 0);
    CHECK(warning.empty());
  }
  if (expected() == "coherent") CHECK(where.sharing == FileSystem::Sharing::coherent);
}
