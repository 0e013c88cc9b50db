// SPDX-License-Identifier: BSD-3-Clause
// Does to objects of a server what its arguments say, for the tests beside it. Of each command it prints
// "ok ..." or "error CODE: message".
#include <fmt/core.h>

#include <dirent.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "storage/remote/remote.hpp"

using namespace shoal;

namespace {

using Words = std::vector<std::string>;

RemoteOptions options_of_environment() {
  RemoteOptions options;
  const auto number = [](const char* name, auto& value) {
    if (const char* text = std::getenv(name))
      value = static_cast<std::decay_t<decltype(value)>>(std::atof(text));
  };
  number("TEST_TRIES", options.tries);
  number("TEST_PART_BYTES", options.part_bytes);
  number("TEST_MOST_REQUESTS", options.most_requests);
  number("TEST_CONNECT_SECONDS", options.connect_seconds);
  number("TEST_STALL_SECONDS", options.stall_seconds);
  number("TEST_TOTAL_SECONDS", options.total_seconds);
  return options;
}

/// Bytes that are different for each seed and place.
std::vector<std::byte> content(std::uint64_t seed, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (std::size_t i = 0; i < size; i += 8) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::memcpy(bytes.data() + i, &state, std::min<std::size_t>(8, size - i));
  }
  return bytes;
}

std::string sum_of(std::span<const std::byte> bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return fmt::format("{} bytes, {:016x}", bytes.size(), hash.value());
}

StoreMode mode_of(const std::string& name) {
  const std::map<std::string, StoreMode> modes{{"create", StoreMode::create},
                                               {"exclusive", StoreMode::create_exclusive},
                                               {"read", StoreMode::read},
                                               {"write", StoreMode::write},
                                               {"write_or_create", StoreMode::write_or_create}};
  return modes.at(name);
}

std::vector<std::byte> whole(Store& store) {
  std::vector<std::byte> bytes(store.size());
  const std::size_t got = store.read(0, bytes);
  if (got != bytes.size()) throw Error(Code::internal, "read {} of {} bytes", got, bytes.size());
  return bytes;
}

std::string printed(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text = fmt::format("{}", names.size());
  for (const std::string& name : names)
    text += "\n  " + name;
  return text;
}

long resident_kibibytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  return 0;
}

int open_descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder != nullptr && readdir(folder) != nullptr)
    ++count;
  if (folder != nullptr) closedir(folder);
  return count;
}

void put(Container& container, const std::string& object, std::span<const std::byte> bytes,
         StoreMode mode = StoreMode::create) {
  const auto store = container.open(object, mode);
  store->write(0, bytes);
  store->close();
}

/// Each of some threads does its share of work(0) to work(count - 1).
void by_threads(int threads, int count, const std::function<void(int)>& work) {
  std::atomic<int> next{0};
  std::vector<Status> outcomes(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        outcomes[static_cast<std::size_t>(t)] = caught([&] {
          for (int i = next++; i < count; i = next++)
            work(i);
        });
      });
  }
  for (const Status& status : outcomes)
    if (!status.ok()) throw Error(status);
}

/// The steps of "open": write AT SEED SIZE, read AT SIZE, size, resize SIZE, sync, sum, close.
std::string steps(Container& container, const Words& words) {
  const auto store = container.open(words.at(1), mode_of(words.at(2)));
  std::string said;
  const auto number = [&](std::size_t i) { return std::stoull(words.at(i)); };
  for (std::size_t i = 3; i < words.size();) {
    const std::string& step = words[i];
    if (step == "write") {
      store->write(number(i + 1), content(number(i + 2), number(i + 3)));
      i += 4;
    } else if (step == "read") {
      std::vector<std::byte> bytes(number(i + 2));
      bytes.resize(store->read(number(i + 1), bytes));
      said += " read " + sum_of(bytes);
      i += 3;
    } else {
      if (step == "size") said += fmt::format(" size {}", store->size());
      if (step == "resize") store->resize(number(++i));
      if (step == "sync") store->sync();
      if (step == "sum") said += " sum " + sum_of(whole(*store));
      if (step == "close") store->close();
      if (step == "wait") std::getchar();
      ++i;
    }
  }
  return said;
}

/// requests COUNT: puts, gets, lists and removes, and how much memory and how many descriptors were in use.
std::string many_requests(Container& container, int count) {
  std::string said;
  const auto bytes = content(7, 2000);
  const auto round = [&](int i) {
    const std::string object = fmt::format("many/{}", i % 10);
    if (i % 5 < 2) put(container, object, bytes);
    if (i % 5 == 2 && whole(*container.open("many/0", StoreMode::read)) != bytes)
      throw Error(Code::internal, "other bytes");
    if (i % 5 == 3) container.remove(fmt::format("many/{}", 5 + i % 5));
    if (i % 5 == 4) container.children("many/");
  };
  long resident = 0;
  int descriptors = 0;
  const int begin = count / 10;
  put(container, "many/0", bytes);
  by_threads(4, begin, round);
  resident = resident_kibibytes();
  descriptors = open_descriptors();
  by_threads(4, count - begin, [&](int i) { round(begin + i); });
  return fmt::format(" grown {} KiB, {} descriptors", resident_kibibytes() - resident,
                     open_descriptors() - descriptors);
}

std::string run(Container& container, const Words& words) {
  const std::string& command = words.at(0);
  const auto number = [&](std::size_t i) { return std::stoull(words.at(i)); };
  if (command == "put") {  // OBJECT MODE SEED SIZE
    put(container, words.at(1), content(number(3), number(4)), mode_of(words.at(2)));
    return " " + sum_of(content(number(3), number(4)));
  }
  if (command == "get") return " " + sum_of(whole(*container.open(words.at(1), StoreMode::read)));
  if (command == "open") return steps(container, words);
  if (command == "sum") return " " + sum_of(content(number(1), number(2)));
  if (command == "list") return " " + printed(container.list(words.size() > 1 ? words[1] : ""));
  if (command == "children") return " " + printed(container.children(words.size() > 1 ? words[1] : ""));
  if (command == "remove") return container.remove(words.at(1)), "";
  if (command == "remove_below") return container.remove_below(words.at(1)), "";
  if (command == "copy") return container.copy(words.at(1), words.at(2)), "";
  if (command == "publish") return container.publish(words.at(1), words.at(2), true), "";
  if (command == "names") {  // a file of names, each of which becomes an object
    std::ifstream file(words.at(1));
    Words names;
    for (std::string name; std::getline(file, name, '\0');)
      names.push_back(name);
    by_threads(4, static_cast<int>(names.size()), [&](int i) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      put(container, name, std::as_bytes(std::span(name)));
    });
    return fmt::format(" {}", names.size());
  }
  if (command == "check_names") {  // that each has its own name in it
    const Words names = container.list("");
    by_threads(4, static_cast<int>(names.size()), [&](int i) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      const auto bytes = whole(*container.open(name, StoreMode::read));
      if (std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) != name)
        throw Error(Code::internal, "'{}' has other bytes", name);
    });
    return fmt::format(" {}", names.size());
  }
  if (command == "requests") return many_requests(container, static_cast<int>(number(1)));
  if (command == "rate") {  // COUNT SIZE THREADS: seconds to put and to get so many objects
    const int count = static_cast<int>(number(1));
    const int threads = static_cast<int>(number(3));
    const auto bytes = content(1, number(2));
    double begin = now();
    by_threads(threads, count, [&](int i) { put(container, fmt::format("rate/{}", i), bytes); });
    const double putting = now() - begin;
    begin = now();
    by_threads(threads, count, [&](int i) {
      thread_local std::vector<std::byte> memory;  // as of a field, which is there before
      memory.resize(bytes.size());
      if (container.open(fmt::format("rate/{}", i), StoreMode::read)->read(0, memory) != bytes.size())
        throw Error(Code::internal, "other bytes");
    });
    return fmt::format(" put {:.4f} get {:.4f}", putting, now() - begin);
  }
  throw Error(Code::invalid_argument, "unknown command {}", command);
}

}  // namespace

/// remote_objects URL COMMAND [WORD...] [-- COMMAND [WORD...]]...
/// remote_objects file MODE URL COMMAND "" [WORD...]: one object, by its own URL.
int main(int argc, char** argv) {
  Words all(argv + 1, argv + argc);
  std::shared_ptr<Container> container;
  const Status opened = caught([&] {
    if (all.at(0) == "file") {
      const StoreMode mode = mode_of(all.at(1));
      all.erase(all.begin(), all.begin() + 2);
      container = container_of(open_remote_store(all.at(0), mode, options_of_environment()));
    } else {
      container = remote_container(all.at(0), options_of_environment());
    }
  });
  if (!opened.ok()) {
    fmt::print("error {}: {}\n", name_of(opened.code), Error(opened).what());
    return 1;
  }
  int failed = 0;
  for (auto at = all.begin() + 1; at < all.end();) {
    const auto end = std::find(at, all.end(), "--");
    const Status status = caught([&] { fmt::print("ok{}\n", run(*container, Words(at, end))); });
    if (!status.ok()) fmt::print("error {}: {}\n", name_of(status.code), Error(status).what());
    std::fflush(stdout);
    failed += status.ok() ? 0 : 1;
    at = end == all.end() ? end : end + 1;
  }
  return failed == 0 ? 0 : 1;
}
