// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>

namespace shoal::bench {

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const auto end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty()) throw std::invalid_argument("an empty part in '" + text + "'");
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::int64_t number(const std::string& text, std::int64_t least, const std::string& what) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0 || value < least || value > 1000000000)
    throw std::invalid_argument(what + " is '" + text + "'; a number of " + std::to_string(least) +
                                " or more is needed");
  return value;
}

void add_pair(KeyValues& to, const std::string& text, const std::string& what) {
  const auto at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size())
    throw std::invalid_argument(what + " is '" + text + "'; key=value is needed");
  to[text.substr(0, at)] = text.substr(at + 1);
}

using Take = std::function<void(Options&, const std::string&)>;

Tiling parts_of(const std::string& option, const std::string& text) {
  const auto parts = split(text, 'x');
  if (parts.size() != 2)
    throw std::invalid_argument(option + " is '" + text + "'; parts in xi x parts in eta are needed, as 2x2");
  return {static_cast<int>(number(parts[0], 1, option)), static_cast<int>(number(parts[1], 1, option))};
}

std::vector<std::string> known_formats(const std::string& text) {
  static const std::vector<std::string> known{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic",
                                              "raw",  "ascii"};
  auto formats = split(text, ',');
  for (const auto& format : formats)
    if (std::find(known.begin(), known.end(), format) == known.end())
      throw std::invalid_argument("there is no format '" + format +
                                  "'; there are cdf1, cdf2, cdf5, netcdf4, netcdf4-classic, raw, ascii");
  return formats;
}

const std::map<std::string, Take>& options_with_value() {
  static const std::map<std::string, Take> all{
      {"--tiles", [](Options& o, const std::string& v) { o.tiling = parts_of("--tiles", v); }},
      {"--size", [](Options& o, const std::string& v) { o.size = v; }},
      {"--records", [](Options& o, const std::string& v) { o.records = number(v, 1, "--records"); }},
      {"--steps", [](Options& o, const std::string& v) { o.steps = number(v, 1, "--steps"); }},
      {"--switches", [](Options& o, const std::string& v) { o.switches = v; }},
      {"--reps",
       [](Options& o, const std::string& v) { o.repetitions = static_cast<int>(number(v, 1, "--reps")); }},
      {"--first-round",
       [](Options& o, const std::string& v) {
         o.first_round = static_cast<int>(number(v, 1, "--first-round"));
       }},
      {"--ranks",
       [](Options& o, const std::string& v) { o.ranks = static_cast<int>(number(v, 1, "--ranks")); }},
      {"--methods", [](Options& o, const std::string& v) { o.methods = split(v, ','); }},
      {"--formats", [](Options& o, const std::string& v) { o.formats = known_formats(v); }},
      {"--dir", [](Options& o, const std::string& v) { o.dirs = split(v, ','); }},
      {"--cut",
       [](Options& o, const std::string& v) {
         if (v != "map" && v != "block")
           throw std::invalid_argument("--cut is '" + v + "'; map or block is needed");
         o.cut = v;
       }},
      {"--io-layout",
       [](Options& o, const std::string& v) {
         parts_of("--io-layout", v);
         o.io_layout = v;
       }},
      {"--json", [](Options& o, const std::string& v) { o.json = v; }},
      {"--label", [](Options& o, const std::string& v) { o.label = v; }},
      {"--hints",
       [](Options& o, const std::string& v) {
         for (const auto& part : split(v, ','))
           add_pair(o.hints, part, "--hints");
       }},
  };
  return all;
}

const std::map<std::string, bool Options::*>& flags() {
  static const std::map<std::string, bool Options::*> all{
      {"--read", &Options::read},     {"--flush", &Options::flush},
      {"--cold", &Options::cold},     {"--touch-memory", &Options::touch_memory},
      {"--keep", &Options::keep},     {"--plant-error", &Options::inject_error},
      {"--stream", &Options::stream}, {"--estimate", &Options::estimate},
      {"--help", &Options::help}};
  return all;
}

// Options that would have no effect are mistakes.
void check_together(const Options& o) {
  if (o.first_round > o.repetitions)
    throw std::invalid_argument("--first-round is " + std::to_string(o.first_round) +
                                ", but --reps ends with " + std::to_string(o.repetitions));
  if (o.ranks > 0 && !o.estimate)
    throw std::invalid_argument("--ranks is for --estimate; mpiexec says how many ranks there are");
  if (o.cold && !o.read) throw std::invalid_argument("--cold is about reading; --read asks for that");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    if (const auto flag = flags().find(a); flag != flags().end()) {
      o.*(flag->second) = true;
    } else if (const auto option = options_with_value().find(a); option != options_with_value().end()) {
      if (++i == arguments.size()) throw std::invalid_argument(a + " needs a value");
      option->second(o, arguments[i]);
    } else if (a.starts_with("-") || !o.experiment.empty()) {
      throw std::invalid_argument("'" + a + "' is no option; --help lists them");
    } else {
      o.experiment = a;
    }
  }
  o.list = o.experiment == "list";
  if (!o.list && !o.help && o.experiment.empty())
    throw std::invalid_argument("an experiment is needed; shoal-bench list names them");
  if (!o.list && !o.help) check_together(o);
  return o;
}

std::string usage() {
  return "mpiexec -n RANKS shoal-bench EXPERIMENT [options]     shoal-bench list [--stream]\n"
         "  --tiles IxJ       tiles in xi and in eta; as square as possible unless given\n"
         "  --size S          one of the workload's (list names them) or NXxNYxNZ; the first one unless "
         "given\n"
         "  --records N       records of the file\n"
         "  --methods A,B     methods, in the order in which they take turns; list says which ones "
         "otherwise\n"
         "  --formats A,B     cdf1, cdf2, cdf5, netcdf4, netcdf4-classic, raw, ascii; each method's usual "
         "one\n"
         "                    unless given\n"
         "  --cut map|block   scattered columns (restart; map unless given), or even blocks\n"
         "  --io-layout IxJ   I/O domains of the methods that end in -per-domain\n"
         "  --reps N          counted repetitions, after one that is not counted (5)\n"
         "  --first-round N   the repetitions before this one have been counted earlier (1)\n"
         "  --dir A,B         where the files go, all methods in each (.)\n"
         "  --read            read every file back as the method reads it, timed\n"
         "  --cold            files leave the page cache before they are read\n"
         "  --touch-memory    take and give back as much memory as a file needs before each write: hosts of "
         "virtual\n"
         "                    machines lend it then and not in the timed part; for file systems in memory\n"
         "  --flush           wait until the device has the bytes\n"
         "  --hints k=v,...   MPI-IO hints for the methods that take them\n"
         "  --steps N         steps of an experiment that computes; --records says how often there is "
         "output\n"
         "  --switches FILE   its switches are read from there: integers, or texts that begin with T or F\n"
         "  --label TEXT      name of the MPI-IO in use; else it is asked for\n"
         "  --json FILE       every run as an object of a list\n"
         "  --stream          one JSON object a line on standard output, and nothing else\n"
         "  --estimate        print the memory and space that would be needed, and end; --ranks R without "
         "mpiexec\n"
         "  --keep            leave the files of the last repetition\n"
         "  --plant-error     spoil a byte of each file: the check must find it, or the exit code is 2\n";
}

Tiling tiling_of(const Options& options, int ranks) {
  if (options.tiling.xi > 0) {
    if (options.tiling.xi * options.tiling.eta != ranks)
      throw std::invalid_argument("--tiles " + std::to_string(options.tiling.xi) + "x" +
                                  std::to_string(options.tiling.eta) +
                                  " is for another number of ranks than " + std::to_string(ranks));
    return options.tiling;
  }
  int xi = 1;
  for (int i = 1; i * i <= ranks; ++i)
    if (ranks % i == 0) xi = i;
  return {xi, ranks / xi};
}

// +deflate1 and +zstd3 stand for what is compared most: the codec of that level, after a shuffle. +thread:
// stored in the background.
static std::string written_out(const std::string& part) {
  if (part == "thread") return "background=thread";
  for (const std::string codec : {"deflate", "zstd"}) {
    const std::string level = part.substr(std::min(codec.size(), part.size()));
    if (part.rfind(codec, 0) == 0 && !level.empty() &&
        level.find_first_not_of("0123456789") == std::string::npos)
      return "compression=shuffle+" + codec + ":" + level;
  }
  return part;
}

MethodChoice parse_method(const std::string& text) {
  const auto parts = split(text, '+');
  MethodChoice choice{text, &find_method(parts[0]), {}, {}};
  if (parts.size() > 1 && !choice.entry->through_shoal)
    throw std::invalid_argument("method " + parts[0] + " takes no settings, but '" + text + "' has some");
  for (std::size_t i = 1; i < parts.size(); ++i)
    add_pair(choice.settings, written_out(parts[i]), "a setting of '" + text + "'");
  // These are what the method is, or what the benchmark looks after.
  for (const char* key : {"driver", "access", "layout", "durable", "report", "exists"})
    if (choice.settings.count(key) != 0)
      throw std::invalid_argument(
          "'" + text + "': " + key + " is not for a variant" +
          (std::string(key) == "durable" ? "; use --flush" : "; choose another method"));
  choice.format = choice.entry->fixed_format;
  if (const auto own = choice.settings.find("format"); own != choice.settings.end()) {
    if (!choice.format.empty())
      throw std::invalid_argument("'" + text + "': " + parts[0] + " is always " + choice.format);
    choice.format = known_formats(own->second).front();
    choice.settings.erase(own);
  }
  return choice;
}

}  // namespace shoal::bench
