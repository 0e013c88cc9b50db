// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "command_line.hpp"
#include "library.hpp"

namespace shoal::bench {

namespace {

void add_pair(KeyValues& to, const std::string& text, const std::string& what) {
  const auto at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size())
    throw std::invalid_argument(what + " is '" + text + "'; key=value is needed");
  to[text.substr(0, at)] = text.substr(at + 1);
}

Tiling parts_of(const std::string& option, const std::string& text) {
  const auto parts = split(text, 'x');
  if (parts.size() != 2)
    throw std::invalid_argument(option + " is '" + text + "'; parts in xi x parts in eta are needed, as 2x2");
  return {static_cast<int>(whole_number(option, parts[0], 1)),
          static_cast<int>(whole_number(option, parts[1], 1))};
}

std::vector<std::string> known_formats(const std::string& text) {
  const auto& known = library_formats();
  auto formats = split(text, ',');
  for (const auto& format : formats)
    if (std::find(known.begin(), known.end(), format) == known.end())
      throw std::invalid_argument("there is no format '" + format + "'; there are " + joined(known));
  return formats;
}

// Sets a number of Options.
template <class T>
Take number_to(T& to, const std::string& option) {
  return [&to, option](const std::string& v) { to = static_cast<T>(whole_number(option, v, 1)); };
}

Take text_to(std::string& to) {
  return [&to](const std::string& v) { to = v; };
}

// What is written, and as what.
void add_data(CLI::App& app, Options& o) {
  app.add_option("experiment", o.experiment, "what to measure; list: show what there is")
      ->type_name("")
      ->option_text("EXPERIMENT");
  add_value(app, "--tiles", "IxJ", "tiles in xi and in eta; as square as possible unless given",
            [&](const std::string& v) { o.tiling = parts_of("--tiles", v); });
  add_value(app, "--size", "S", "one of the workload's (see list) or NXxNYxNZ; the first one unless given",
            text_to(o.size));
  add_value(app, "--records", "N", "records of the file", number_to(o.records, "--records"));
  add_value(
      app, "--sync-every", "N",
      "a sync after so many records, as models do for restarts: none before the file is closed, but one a\n"
      "record in commits",
      number_to(o.sync_every, "--sync-every"));
  add_value(app, "--methods", "A,B", "in the order in which they take turns; list says which otherwise",
            [&](const std::string& v) { o.methods = split(v, ','); });
  add_value(app, "--formats", "A,B", joined(library_formats()) + "; each method's usual one",
            [&](const std::string& v) { o.formats = known_formats(v); });
  add_value(app, "--cut", "map|block", "scattered columns (restart; map unless given), or even blocks",
            [&](const std::string& v) {
              if (v != "map" && v != "block")
                throw std::invalid_argument("--cut is '" + v + "'; map or block is needed");
              o.cut = v;
            });
  add_value(app, "--io-layout", "IxJ", "I/O domains of the methods that end in -per-domain",
            [&](const std::string& v) {
              parts_of("--io-layout", v);
              o.io_layout = v;
            });
  add_value(app, "--hints", "K=V,..", "MPI-IO hints for the methods that take them",
            [&](const std::string& v) {
              for (const auto& part : split(v, ','))
                add_pair(o.hints, part, "--hints");
            });
  add_value(app, "--steps", "N", "of an experiment that computes; --records says how often there is output",
            number_to(o.steps, "--steps"));
  add_value(app, "--switches", "FILE",
            "of an experiment that computes: integers, or texts that begin with T or F", text_to(o.switches));
}

// How it is measured, and what is said of it.
void add_measuring(CLI::App& app, Options& o) {
  add_value(app, "--reps", "N", "counted repetitions, after one that is not counted (5)",
            number_to(o.repetitions, "--reps"));
  add_value(app, "--first-round", "N", "the repetitions before this one have been counted earlier (1)",
            number_to(o.first_round, "--first-round"));
  app.add_flag("!--no-warm-up", o.warm_up, "count from the first repetition on: where times are a model's");
  add_value(app, "--dir", "A,B", "where the files go, all methods in each (.)",
            [&](const std::string& v) { o.dirs = split(v, ','); });
  add_value(app, "--check-in", "DIR",
            "files are checked through this folder, which holds the same ones: in a laboratory its\n"
            "--backing, where reading takes no time of the model",
            text_to(o.check_in));
  app.add_flag("--read", o.read, "read every file back as the method reads it, timed");
  app.add_flag("--cold", o.cold, "files leave the page cache before they are read");
  app.add_flag("--touch-memory", o.touch_memory,
               "take and give back as much memory as a file needs before each write: hosts of\n"
               "virtual machines lend it then and not in the timed part; for files in memory");
  app.add_flag("--flush", o.flush, "wait until the device has the bytes");
  add_value(app, "--label", "TEXT", "name of the MPI-IO in use; else it is asked for", text_to(o.label));
  add_value(app, "--json", "FILE", "every run as an object of a list", text_to(o.json));
  app.add_flag("--stream", o.stream, "one JSON object a line on standard output, and nothing else");
  app.add_flag("--estimate", o.estimate, "print the memory and space that would be needed, and end");
  add_value(app, "--ranks", "N", "for --estimate without mpiexec", number_to(o.ranks, "--ranks"));
  app.add_flag("--keep", o.keep, "leave the files of the last repetition");
  app.add_flag("--inject-error", o.inject_error,
               "spoil a byte of each file: the check must find it, or the exit code is 2");
}

std::unique_ptr<CLI::App> command_line(Options& o) {
  auto app = std::make_unique<CLI::App>("The same data written and read in several ways, taking turns.",
                                        "mpiexec -n RANKS shoal-bench");
  app->set_help_flag();
  app->get_formatter()->column_width(24);
  add_data(*app, o);
  add_measuring(*app, o);
  app->add_flag("-h,--help", o.help, "this text");
  return app;
}

// Options that would have no effect are mistakes.
void check_together(const Options& o) {
  if (o.first_round > o.repetitions)
    throw std::invalid_argument("--first-round is " + std::to_string(o.first_round) +
                                ", but --reps ends with " + std::to_string(o.repetitions));
  if (o.ranks > 0 && !o.estimate)
    throw std::invalid_argument("--ranks is for --estimate; mpiexec says how many ranks there are");
  if (!o.check_in.empty() && o.dirs.size() > 1)
    throw std::invalid_argument("--check-in is one folder, but --dir has several");
  if (o.cold && !o.read) throw std::invalid_argument("--cold is about reading; --read asks for that");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  parse(*command_line(o), arguments);
  o.list = o.experiment == "list";
  if (!o.list && !o.help && o.experiment.empty())
    throw std::invalid_argument("an experiment is needed; shoal-bench list names them");
  if (!o.list && !o.help) check_together(o);
  return o;
}

std::string usage() {
  Options ignored;
  return command_line(ignored)->help();
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
  if (part == "zarr") return "format=zarr";
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
  const auto& own = choice.entry->settings;
  if (parts.size() > 1 && !choice.entry->through_shoal && own.empty())
    throw std::invalid_argument("method " + parts[0] + " takes no settings, but '" + text + "' has some");
  for (std::size_t i = 1; i < parts.size(); ++i)
    add_pair(choice.settings, written_out(parts[i]), "a setting of '" + text + "'");
  for (const auto& [key, value] : choice.settings)
    if (!choice.entry->through_shoal && std::find(own.begin(), own.end(), key) == own.end())
      throw std::invalid_argument("'" + text + "': method " + parts[0] + " has no setting " + key +
                                  ", only " + own.front());
  // These are what the method is, or what the benchmark looks after.
  for (const char* key : {"driver", "access", "layout", "durable", "report", "exists"})
    if (choice.settings.count(key) != 0)
      throw std::invalid_argument(
          "'" + text + "': " + key + " is not for a variant" +
          (std::string(key) == "durable" ? "; use --flush" : "; choose another method"));
  choice.format = choice.entry->fixed_format;
  if (const auto format = choice.settings.find("format"); format != choice.settings.end()) {
    if (!choice.format.empty())
      throw std::invalid_argument("'" + text + "': " + parts[0] + " is always " + choice.format);
    choice.format = known_formats(format->second).front();
    choice.settings.erase(format);
  }
  return choice;
}

}  // namespace shoal::bench
