// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/http_container.hpp"

#ifdef SHOAL_HAVE_CURL
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "storage/remote/ranged_object.hpp"
#include "storage/remote/requests.hpp"
#include "storage/remote/url.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_first_bytes_of_file = 64 << 10;

Error no_writing(const std::string& path) {
  return Error(Code::not_supported,
               "what is on a server of http:// or https:// can be read, not written: write to s3:// or to a "
               "folder")
      .in_file(path);
}

class HttpContainer final : public Container {
 public:
  HttpContainer(const std::string& url, const RemoteOptions& options)
      : url_(parse_http_url(url)), requests_(std::make_shared<Requests>(options, url_.secrets)) {}

  const std::string& path() const override { return url_.shown; }

  std::unique_ptr<Store> open(const std::string& object, StoreMode mode) override {
    return open(object, mode, false);
  }
  std::unique_ptr<Store> open(const std::string& object, StoreMode mode, bool cached) {
    const std::string shown = url_.shown_of(object);
    if (mode != StoreMode::read) throw no_writing(shown);
    return reading_store(
        std::make_unique<RangedObject>(requests_, url_.of(object), shown, k_first_bytes_of_file), cached);
  }

  std::vector<std::string> list(const std::string& /*beginning*/) override { throw no_list(); }
  std::vector<std::string> children(const std::string& /*folder*/) override { throw no_list(); }
  void remove_below(const std::string& /*folder*/) override { throw no_writing(url_.shown); }
  void copy(const std::string& /*object*/, const std::string& /*to*/) override {
    throw no_writing(url_.shown);
  }
  void remove(const std::string& /*object*/) override { throw no_writing(url_.shown); }
  void publish(const std::string& /*made*/, const std::string& /*object*/, bool /*durable*/) override {
    throw no_writing(url_.shown);
  }
  void sync_name(const std::string& /*object*/) override { throw no_writing(url_.shown); }

 private:
  Error no_list() const {
    return Error(Code::not_supported,
                 "a server of http:// or https:// does not say which files it has: a store of Zarr can be "
                 "read there "
                 "if it has consolidated metadata (zarr.consolidate_metadata makes them)")
        .in_file(url_.shown);
  }

  HttpUrl url_;
  std::shared_ptr<Requests> requests_;
};

}  // namespace

std::shared_ptr<Container> http_container(const std::string& url, const RemoteOptions& options) {
  return std::make_shared<HttpContainer>(url, options);
}

std::unique_ptr<Store> open_http_file(const std::string& url, StoreMode mode, const RemoteOptions& options) {
  return HttpContainer(url, options).open("", mode, true);
}

}  // namespace shoal
#endif
