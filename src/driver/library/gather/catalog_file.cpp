// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "driver/library/gather/serial_file.hpp"

#include "driver/file/file_catalog.hpp"

namespace shoal {

namespace {

class CatalogFile final : public SerialFile {
 public:
  CatalogFile(std::unique_ptr<Catalog> catalog, bool writable) : catalog_(std::move(catalog)) {
    if (writable) leave_generation();
  }

  void define(const Schema& /*have*/, const Schema& wanted) override {
    catalog_->define(wanted);
    leave_generation();
  }
  void put(int variable, const Box& box, const std::byte* values) override {
    catalog_->put(variable, box, values);
  }
  void get(int variable, const Box& box, std::byte* values) override { catalog_->get(variable, box, values); }
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values) override {
    catalog_->put_strings(variable, box, values);
  }
  std::vector<std::string> get_strings(int variable, const Box& box) override {
    return catalog_->get_strings(variable, box);
  }
  void grow(const Schema& schema) override {
    for (std::size_t d = 0; d < schema.dims.size(); ++d)
      if (schema.dims[d].unlimited && schema.dims[d].length > catalog_->schema().dims[d].length)
        catalog_->grow(static_cast<int>(d), schema.dims[d].length);
  }
  void commit(bool durable) override { catalog_->commit(durable); }
  void close(bool durable) override { catalog_->close(durable); }

 private:
  // The driver knows what was written and fills the rest, so that nothing is written twice.
  void leave_generation() {
    for (int v = 0; v < static_cast<int>(catalog_->schema().variables.size()); ++v)
      catalog_->set_distributed(v);
  }

  std::unique_ptr<Catalog> catalog_;
};

}  // namespace

std::unique_ptr<SerialFile> open_catalog_file(const std::string& path, OpenMode mode, Format format,
                                              const DriverOptions& options,
                                              std::vector<std::string>& warnings) {
  return std::make_unique<CatalogFile>(catalog_of_file(path, mode, format, options, warnings),
                                       mode != OpenMode::read);
}

}  // namespace shoal
