// SPDX-License-Identifier: BSD-3-Clause
#include <pio.h>

#include <algorithm>
#include <stdexcept>

#include "node.hpp"
#include "writers.hpp"

namespace shoal::bench::interfaces {

namespace {

void check(int code, const std::string& what) {
  if (code == PIO_NOERR) return;
  std::string words(PIO_MAX_NAME + 1, '\0');
  PIOc_strerror(code, words.data());
  throw std::runtime_error("PIO: " + what + ": " + words.c_str());
}

int make_iosystem(MPI_Comm comm) {
  int made = -1;
  PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, nullptr);
  check(PIOc_Init_Intracomm(comm, 1, 1, 0, PIO_REARR_BOX, &made), "an iosystem");
  return made;
}

// cells: from 1.
int make_decomposition(int iosystem, int type, const Cut& cut, const std::vector<PIO_Offset>& cells) {
  const auto lengths = cut.lengths();
  const std::vector<int> dims(lengths.begin(), lengths.end());
  int made = -1;
  check(PIOc_InitDecomp(iosystem, type, static_cast<int>(dims.size()), dims.data(),
                        static_cast<int>(cells.size()), cells.data(), &made, nullptr, nullptr, nullptr),
        "a decomposition");
  return made;
}

std::vector<PIO_Offset> list_of(const Cut& cut) {
  const auto cells = cut.cells_of_all();
  std::vector<PIO_Offset> list(cells.size());
  std::transform(cells.begin(), cells.end(), list.begin(), [](std::int64_t cell) { return cell + 1; });
  list.reserve(1);  // of a rank without cells there is a list, too
  return list;
}

class PioWriter : public Writer {
 public:
  explicit PioWriter(MPI_Comm comm) : iosystem_(make_iosystem(comm)) {}
  ~PioWriter() override {
    free_decompositions();
    PIOc_free_iosystem(iosystem_);
  }
  PioWriter(const PioWriter&) = delete;
  PioWriter& operator=(const PioWriter&) = delete;

  void prepare(const Case& c) override {
    free_decompositions();
    for (const auto& cut : c.cuts)
      decompositions_.push_back(make_decomposition(iosystem_, PIO_FLOAT, cut, list_of(cut)));
  }

  void write(const std::string& path, const Case& c) override {
    const int iotype = PIO_IOTYPE_PNETCDF;
    int file = -1, time = -1;
    check(PIOc_createfile(iosystem_, &file, &iotype, path.c_str(), PIO_CLOBBER | PIO_64BIT_DATA), "creation");
    check(PIOc_def_dim(file, "time", PIO_UNLIMITED, &time), "time");
    std::vector<std::vector<int>> dims;
    for (std::size_t i = 0; i < c.cuts.size(); ++i) {
      dims.push_back({time});
      const auto lengths = c.cuts[i].lengths();
      for (std::size_t d = 0; d < lengths.size(); ++d) {
        const auto name = "d" + std::to_string(i) + "_" + std::to_string(d);
        dims.back().push_back(-1);
        check(PIOc_def_dim(file, name.c_str(), lengths[d], &dims.back().back()), name);
      }
    }
    std::vector<int> ids(c.fields.size(), -1);
    for (std::size_t f = 0; f < c.fields.size(); ++f) {
      const auto& of = dims[static_cast<std::size_t>(c.fields[f])];
      check(PIOc_def_var(file, ("v" + std::to_string(f)).c_str(), PIO_FLOAT, static_cast<int>(of.size()),
                         of.data(), &ids[f]),
            "variable");
    }
    check(PIOc_enddef(file), "end of definitions");
    for (int record = 0; record < c.records; ++record)
      for (std::size_t f = 0; f < c.fields.size(); ++f) {
        const auto cut = static_cast<std::size_t>(c.fields[f]);
        const auto& values = c.cuts[cut].values;
        check(PIOc_setframe(file, ids[f], record), "frame");
        check(PIOc_write_darray(file, ids[f], decompositions_[cut], static_cast<PIO_Offset>(values.size()),
                                const_cast<float*>(values.data()), nullptr),
              "writing");
      }
    check(PIOc_closefile(file), "closing");
  }

 private:
  void free_decompositions() {
    for (const int id : decompositions_)
      PIOc_freedecomp(iosystem_, id);
    decompositions_.clear();
  }

  int iosystem_;
  std::vector<int> decompositions_;
};

}  // namespace

std::unique_ptr<Writer> make_pio_writer(MPI_Comm comm) {
  return std::make_unique<PioWriter>(comm);
}

InitDecomp time_initdecomp(MPI_Comm comm, const Cut& cut, int repetitions) {
  const int iosystem = make_iosystem(comm);
  const auto list = list_of(cut);
  std::vector<int> made;
  const auto timed = [&](int type, double& seconds) {
    quiet_barrier(comm);
    const double begin = MPI_Wtime();
    made.push_back(make_decomposition(iosystem, type, cut, list));
    seconds = std::max(seconds, MPI_Wtime() - begin);
  };
  InitDecomp out;
  const auto before = memory_status("VmRSS");
  timed(PIO_DOUBLE, out.first_seconds);
  const auto after = memory_status("VmRSS");
  for (int i = 0; i < repetitions; ++i)
    timed(i % 2 == 0 ? PIO_FLOAT : PIO_DOUBLE, out.again_seconds);
  out.first_bytes = after - before;
  out.again_bytes = memory_status("VmRSS") - after;
  for (const int id : made)
    check(PIOc_freedecomp(iosystem, id), "a decomposition's end");
  check(PIOc_free_iosystem(iosystem), "an iosystem's end");
  MPI_Allreduce(MPI_IN_PLACE, &out.first_seconds, 2, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, &out.first_bytes, 2, MPI_INT64_T, MPI_MAX, comm);
  return out;
}

}  // namespace shoal::bench::interfaces
