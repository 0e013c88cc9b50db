// SPDX-License-Identifier: BSD-3-Clause
// Opening, definitions, data.
#include <functional>

#include "capi/closing.hpp"
#include "capi/own_comm.hpp"
#include "capi/structs.hpp"
#include "driver/protocol/protocol.hpp"
#include "shoal/packing.h"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

// Also where the definition fails: other ranks finish definitions together with this one.
template <class Work>
int define(shoal_dataset* handle, Work&& work) noexcept {
  return guard([&] {
    Dataset& file = dataset_of(handle);
    file.begin_definition();
    work(file);
  });
}

// dim: the name of the variable's i-th dimension.
int define_variable(shoal_dataset* handle, const char* name, int type, int ndims,
                    const std::function<std::string(const Dataset& file, int i)>& dim,
                    const shoal_decomposition* decomposition) {
  return define(handle, [&](Dataset& file) {
    const std::string variable = required_text(name, "name");
    if (ndims < 0 || ndims > SHOAL_MAX_DIMS)
      throw Error(Code::invalid_argument, "ndims is {}; allowed are 0 to {}", ndims, SHOAL_MAX_DIMS)
          .of_variable(variable)
          .in_file(file.path());
    std::vector<std::string> dims;
    for (int i = 0; i < ndims; ++i)
      dims.push_back(dim(file, i));
    file.def_var(variable, type_of(type), dims, decomposition_of(decomposition));
  });
}

// A dataset that all ranks make together; what is wrong with this rank's path they learn first.
template <class Make>
int make_dataset(MPI_Comm comm, const char* path, const char* settings, shoal_dataset** out, Make&& make) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    std::string file;
    const Status problem = caught([&] {
      require(out, "out");
      file = required_text(path, "path");
      if (file.empty()) throw Error(Code::invalid_argument, "the path is empty");
    });
    std::unique_ptr<Dataset> dataset = make(file, options_of(settings, problem));
    *out = new shoal_dataset{std::move(dataset)};
    watch(*out);
  });
}

Section section_of(const shoal_section* section) {
  if (section == nullptr) return {};
  const shoal_section part = taken(*section, k_section_0_2, "shoal_section");
  return {part.record, part.ndims, part.start, part.count, part.records};
}

DataCall call_of(shoal_variable variable, const shoal_decomposition* decomposition, const shoal_array* array,
                 const shoal_section* section) {
  DataCall call;
  call.variable = variable;
  call.problem.merge(caught([&] { call.section = section_of(section); }));
  call.decomposition = decomposition_of(decomposition);
  call.array = argument_of(array);
  return call;
}

DataCall call_of(const char* variable, const shoal_decomposition* decomposition, const shoal_array* array,
                 const shoal_section* section) {
  DataCall call = call_of(-1, decomposition, array, section);
  Status named = caught([&] { call.variable = required_text(variable, "variable"); });
  named.merge(call.problem);
  call.problem = std::move(named);
  return call;
}

// move: of a Dataset, what a rank does alone with boxes.
int move_boxes(shoal_dataset* handle, int n, const shoal_box* boxes,
               void (Dataset::*move)(const std::vector<BoxArgument>&)) noexcept {
  return guard([&] {
    Dataset& file = dataset_of(handle);
    std::vector<BoxArgument> all;
    const Status problem = caught([&] { all = boxes_of(n, boxes); });
    if (!problem.ok()) throw Error(problem).in_file(file.path());
    (file.*move)(all);
  });
}

template <class Take>
int copy(shoal_dataset* dataset, shoal_dataset* from, Take&& take) noexcept {
  return guard([&] {
    DataCall call;
    VariableArgument there;
    take(call, there);
    call.array.problem = {};
    Dataset* source = nullptr;
    call.problem.merge(caught([&] {
      require(from, "from");
      source = &dataset_of(from);
    }));
    dataset_of(dataset).copy(call, source, there);
  });
}

}  // namespace

int shoal_create(MPI_Comm comm, const char* path, const char* settings, shoal_dataset** out) {
  return make_dataset(comm, path, settings, out, [&](const std::string& file, const DatasetOptions& options) {
    return Dataset::create(comm, file, options);
  });
}

int shoal_recover(const char* path, int* finished) {
  return guard([&] {
    if (finished != nullptr) *finished = 0;
    const bool was = recover_file(open_posix_store, required_text(path, "path"));
    if (finished != nullptr) *finished = was ? 1 : 0;
  });
}

int shoal_open(MPI_Comm comm, const char* path, int mode, const char* settings, shoal_dataset** out) {
  return make_dataset(comm, path, settings, out, [&](const std::string& file, DatasetOptions options) {
    options.problem.merge(caught([&] {
      if (mode != SHOAL_READ && mode != SHOAL_WRITE && mode != SHOAL_APPEND)
        throw Error(Code::invalid_argument,
                    "the mode is {}; allowed are SHOAL_READ (0), SHOAL_WRITE (1) and SHOAL_APPEND (2)", mode);
    }));
    return mode == SHOAL_APPEND ? Dataset::append(comm, file, std::move(options))
                                : Dataset::open(comm, file, mode != SHOAL_READ, options);
  });
}

int shoal_begin_step(shoal_dataset* dataset, int64_t* record) {
  return guard([&] {
    const std::int64_t index = dataset_of(dataset).begin_step();
    if (record != nullptr) *record = index;
  });
}

int shoal_end_define(shoal_dataset* dataset) {
  return guard([&] { dataset_of(dataset).end_define(); });
}

int shoal_sync(shoal_dataset* dataset, int durable) {
  return guard([&] { dataset_of(dataset).sync(durable != 0); });
}

int shoal_close(shoal_dataset** dataset, int durable) {
  return guard([&] {
    require(dataset, "dataset");
    std::unique_ptr<shoal_dataset> handle(*dataset);
    *dataset = nullptr;
    dataset_of(handle.get());
    shoal::capi::close(std::move(handle), durable != 0);
  });
}

int shoal_wait(MPI_Comm comm) {
  return guard([&] {
    require_mpi(comm);
    const Own own(comm, "wait");
    own.agree_or_throw({});
    // What failed in a file of some ranks all of these learn.
    own.comm().agree_or_throw(caught([&] { finish_closing_within(comm); }));
  });
}

void shoal_abandon(shoal_dataset** dataset) {
  if (dataset == nullptr) return;
  unwatch(*dataset);
  delete *dataset;
  *dataset = nullptr;
}

int shoal_def_dim(shoal_dataset* dataset, const char* name, int64_t length) {
  return define(dataset, [&](Dataset& file) { file.def_dim(required_text(name, "name"), length); });
}

int shoal_def_var(shoal_dataset* dataset, const char* name, int type, const char* dims,
                  const shoal_decomposition* decomposition) {
  return define(dataset, [&](Dataset& file) {
    file.def_var(required_text(name, "name"), type_of(type), required_text(dims, "dims"),
                 decomposition_of(decomposition));
  });
}

int shoal_def_var_names(shoal_dataset* dataset, const char* name, int type, int ndims,
                        const char* const* dims, const shoal_decomposition* decomposition) {
  const auto dim = [&](const Dataset&, int i) {
    require(dims, "dims");
    return required_text(dims[i], "dims");
  };
  return define_variable(dataset, name, type, ndims, dim, decomposition);
}

int shoal_def_var_dims(shoal_dataset* dataset, const char* name, int type, int ndims, const int* dims,
                       const shoal_decomposition* decomposition) {
  const auto dim = [&](const Dataset& file, int i) {
    require(dims, "dims");
    const auto there = static_cast<int>(file.schema().dims.size());
    if (dims[i] < 0 || dims[i] >= there)
      throw Error(Code::invalid_argument, "there is no dimension {}; the dataset has {}, counted {}",
                  as_index(dims[i]), there, counted_from())
          .of_variable(name)
          .in_file(file.path());
    return "/" + file.schema().dim(dims[i]).name;  // from the root
  };
  return define_variable(dataset, name, type, ndims, dim, decomposition);
}

int shoal_def_cut(shoal_dataset* dataset, const char* variable) {
  return define(dataset, [&](Dataset& file) { file.def_cut(required_text(variable, "variable")); });
}

int shoal_def_independent(shoal_dataset* dataset, const char* variable) {
  return define(dataset, [&](Dataset& file) { file.def_independent(required_text(variable, "variable")); });
}

int shoal_def_gathered(shoal_dataset* dataset, const char* name, const char* dims,
                       const shoal_decomposition* decomposition) {
  return define(dataset, [&](Dataset& file) {
    require(decomposition, "decomposition");
    file.def_gathered(required_text(name, "name"), required_text(dims, "dims"),
                      decomposition_of(decomposition));
  });
}

int shoal_def_fill(shoal_dataset* dataset, const char* variable, int type, const void* value) {
  return define(dataset, [&](Dataset& file) {
    file.def_fill(required_text(variable, "variable"), value == nullptr ? Type::none : type_of(type), value);
  });
}

int shoal_def_chunks(shoal_dataset* dataset, const char* variable, const int64_t* chunks) {
  return define(dataset,
                [&](Dataset& file) { file.def_chunks(required_text(variable, "variable"), chunks); });
}

int shoal_def_compression(shoal_dataset* dataset, const char* variable, const char* filters) {
  return define(dataset, [&](Dataset& file) {
    file.def_compression(required_text(variable, "variable"), required_text(filters, "filters"));
  });
}

int shoal_def_quantize(shoal_dataset* dataset, const char* variable, const char* how) {
  return define(dataset, [&](Dataset& file) {
    file.def_quantize(required_text(variable, "variable"), required_text(how, "how"));
  });
}

int shoal_def_pack(shoal_dataset* dataset, const char* variable, const char* how) {
  return define(dataset, [&](Dataset& file) {
    file.def_pack(required_text(variable, "variable"), required_text(how, "how"));
  });
}

int shoal_put_att(shoal_dataset* dataset, const char* variable, const char* name, int type, int64_t count,
                  const void* values) {
  return define(dataset, [&](Dataset& file) {
    file.put_att(variable, required_text(name, "name"), type_of(type), count, values);
  });
}

int shoal_copy_att(shoal_dataset* dataset, const char* variable, const char* name, const shoal_dataset* from,
                   const char* from_variable) {
  return define(dataset, [&](Dataset& file) {
    const auto& there = dataset_of(from).attributes_of(from_variable);
    file.copy_att(variable, find_attribute_or_throw(there, required_text(name, "name")));
  });
}

int shoal_rename_dim(shoal_dataset* dataset, const char* name, const char* new_name) {
  return define(dataset, [&](Dataset& file) {
    file.rename_dim(required_text(name, "name"), required_text(new_name, "new_name"));
  });
}

int shoal_rename_var(shoal_dataset* dataset, const char* name, const char* new_name) {
  return define(dataset, [&](Dataset& file) {
    file.rename_var(required_text(name, "name"), required_text(new_name, "new_name"));
  });
}

int shoal_rename_att(shoal_dataset* dataset, const char* variable, const char* name, const char* new_name) {
  return define(dataset, [&](Dataset& file) {
    file.rename_att(variable, required_text(name, "name"), required_text(new_name, "new_name"));
  });
}

int shoal_delete_att(shoal_dataset* dataset, const char* variable, const char* name) {
  return define(dataset, [&](Dataset& file) { file.delete_att(variable, required_text(name, "name")); });
}

int shoal_write(shoal_dataset* dataset, const char* variable, const shoal_decomposition* decomposition,
                const shoal_array* array, const shoal_section* section) {
  return guard([&] { dataset_of(dataset).write(call_of(variable, decomposition, array, section)); });
}

int shoal_write_variable(shoal_dataset* dataset, shoal_variable variable,
                         const shoal_decomposition* decomposition, const shoal_array* array,
                         const shoal_section* section) {
  return guard([&] { dataset_of(dataset).write(call_of(variable, decomposition, array, section)); });
}

int shoal_copy(shoal_dataset* dataset, const char* variable, const shoal_decomposition* decomposition,
               shoal_dataset* from, const char* from_variable, const shoal_section* section) {
  return copy(dataset, from, [&](DataCall& call, VariableArgument& there) {
    call = call_of(variable, decomposition, nullptr, section);
    call.problem.merge(caught([&] { there = required_text(from_variable, "from_variable"); }));
  });
}

int shoal_copy_variable(shoal_dataset* dataset, shoal_variable variable,
                        const shoal_decomposition* decomposition, shoal_dataset* from,
                        shoal_variable from_variable, const shoal_section* section) {
  return copy(dataset, from, [&](DataCall& call, VariableArgument& there) {
    call = call_of(variable, decomposition, nullptr, section);
    there = from_variable;
  });
}

int shoal_copies(const shoal_dataset* from, int* copies) {
  return guard([&] {
    require(copies, "copies");
    *copies = dataset_of(from).copies() ? 1 : 0;
  });
}

int shoal_read(shoal_dataset* dataset, const char* variable, const shoal_decomposition* decomposition,
               const shoal_array* array, const shoal_section* section) {
  return guard([&] { dataset_of(dataset).read(call_of(variable, decomposition, array, section)); });
}

int shoal_read_variable(shoal_dataset* dataset, shoal_variable variable,
                        const shoal_decomposition* decomposition, const shoal_array* array,
                        const shoal_section* section) {
  return guard([&] { dataset_of(dataset).read(call_of(variable, decomposition, array, section)); });
}

int shoal_refuse_data(shoal_dataset* dataset, int call, shoal_variable variable,
                      const shoal_decomposition* decomposition, const shoal_section* section, int code,
                      const char* message) {
  return guard([&] {
    Dataset& file = dataset_of(dataset);
    Status refused = refusal_of(code, message);
    if (code == SHOAL_OK && call == SHOAL_CALL_WRITE) refused.rank = k_told;
    if (call == SHOAL_CALL_WRITE_BOXES) return file.write_boxes({0, {}, refused});
    if (call == SHOAL_CALL_READ_BOXES) return file.read_boxes({0, {}, refused});
    DataCall refusal;
    refusal.decomposition = decomposition_of(decomposition);
    refusal.knows_section = section != nullptr && caught([&] { refusal.section = section_of(section); }).ok();
    refusal.array.problem = refusal.refused = refused;
    // Of a write that others do not wait in, a rank that knows of what variable the cells are takes its place
    // among the others. Where all calls are matched, what the others ask for need not be known.
    const bool agrees = call == SHOAL_CALL_READ || call == SHOAL_CALL_GET;
    if (variable >= 0 && variable < static_cast<int>(file.schema().variables.size()) && !agrees)
      refusal.variable = variable;
    else
      refusal.problem = refused;
    if (call == SHOAL_CALL_WRITE)
      file.write(refusal);
    else if (call == SHOAL_CALL_PUT)
      file.put(refusal);
    else if (call == SHOAL_CALL_GET)
      file.get(refusal);
    else
      file.read(refusal);
  });
}

int shoal_write_boxes(shoal_dataset* dataset, int n, const shoal_box* boxes) {
  return guard([&] { dataset_of(dataset).write_boxes(boxes_call_of(n, boxes)); });
}

int shoal_read_boxes(shoal_dataset* dataset, int n, const shoal_box* boxes) {
  return guard([&] { dataset_of(dataset).read_boxes(boxes_call_of(n, boxes)); });
}

int shoal_put(shoal_dataset* dataset, const char* variable, const shoal_array* array,
              const shoal_section* section) {
  return guard([&] { dataset_of(dataset).put(call_of(variable, nullptr, array, section)); });
}

int shoal_put_variable(shoal_dataset* dataset, shoal_variable variable, const shoal_array* array,
                       const shoal_section* section) {
  return guard([&] { dataset_of(dataset).put(call_of(variable, nullptr, array, section)); });
}

int shoal_get(shoal_dataset* dataset, const char* variable, const shoal_array* array,
              const shoal_section* section) {
  return guard([&] { dataset_of(dataset).get(call_of(variable, nullptr, array, section)); });
}

int shoal_get_variable(shoal_dataset* dataset, shoal_variable variable, const shoal_array* array,
                       const shoal_section* section) {
  return guard([&] { dataset_of(dataset).get(call_of(variable, nullptr, array, section)); });
}

int shoal_write_independent(shoal_dataset* dataset, int n, const shoal_box* boxes) {
  return move_boxes(dataset, n, boxes, &Dataset::write_independent);
}

int shoal_read_independent(shoal_dataset* dataset, int n, const shoal_box* boxes) {
  return move_boxes(dataset, n, boxes, &Dataset::read_independent);
}
