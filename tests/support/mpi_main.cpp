// The main of test programs that run on several ranks.
//
// Every rank runs every test case, in step: after each case the ranks agree whether it passed on all,
// so that the first failure is reported with the ranks that saw it. Output of passing ranks but rank 0 is
// dropped. A case that takes longer than the limit (TEST_TIME_LIMIT seconds, 200 unless set) ends the
// whole job with its name, since somebody waits for a message that never comes.
// Rank 0 writes to the file TEST_OUTCOMES, where it is set, of each case whether it ran or was skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "support/served_world.hpp"
#include "support/whole_container.hpp"

namespace {

constexpr int k_exit_time_limit = 124;

// The signal handler can only reach what has static storage and needs no allocation.
char g_case_banner[512] = "before the first test case";
unsigned g_time_limit = 200;

void on_time_limit(int) {
  (void)!write(STDERR_FILENO, g_case_banner, std::strlen(g_case_banner));
  _exit(k_exit_time_limit);
}

// What doctest prints goes here first, and to the terminal only where it is of interest.
std::ostringstream& captured() {
  static std::ostringstream stream;
  return stream;
}

struct RankListener : doctest::IReporter {
  int rank = 0;
  int size = 1;
  bool skipped = false;  // the case of now said so: conformance/support.hpp, skipped()
  std::string name;
  std::ofstream outcomes;

  explicit RankListener(const doctest::ContextOptions&) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (const char* path = std::getenv("TEST_OUTCOMES"); path != nullptr && rank == 0) outcomes.open(path);
  }

  void test_case_start(const doctest::TestCaseData& data) override {
    std::snprintf(g_case_banner, sizeof g_case_banner,
                  "[rank %d of %d] time limit of %u s passed in test case \"%s\" (%s:%u)\n", rank, size,
                  g_time_limit, data.m_name, data.m_file.c_str(), data.m_line);
    alarm(g_time_limit);
    skipped = false;
    name = data.m_name;
  }

  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    const bool failed = stats.failure_flags != 0 && !stats.testCaseSuccess;
    if (failed && rank != 0) print_captured();
    // Failing ranks print before they wait, so that their reason is seen even when another rank hangs.
    int failures = failed ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    alarm(0);
    if (rank == 0) print_captured();
    if (outcomes.is_open()) outcomes << (skipped ? "skipped\t" : "ran\t") << name << std::endl;
    captured().str("");
  }

  void print_captured() {
    if (captured().str().empty()) return;
    std::cerr << "[rank " << rank << " of " << size << "]\n" << captured().str() << std::flush;
    captured().str("");
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData& message) override {
    if (std::strncmp(message.m_string.c_str(), "skipped with", 12) == 0) skipped = true;
  }
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("ranks", 1, RankListener);

}  // namespace

int main(int argc, char** argv) {
  if (const char* text = std::getenv("TEST_TIME_LIMIT")) {
    g_time_limit = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  }
  std::signal(SIGALRM, on_time_limit);
  alarm(g_time_limit);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  alarm(0);
  shoal::testing::replace_folders_if_asked();
  auto served = shoal::testing::served_by_environment();
  if (served && !served->computes) {
    MPI_Finalize();
    return 0;
  }
  alarm(g_time_limit);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int failed = 0;
  {
    doctest::Context context(argc, argv);
    context.setOption("no-colors", true);
    context.setCout(&captured());
    failed = context.run() != 0 ? 1 : 0;
  }
  // The exit code is the same everywhere, whichever rank the launcher looks at.
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::cout << captured().str();
    if (failed > 0) std::cout << "FAILED on " << failed << " ranks; the lines above are rank 0's own\n";
    std::cout << std::flush;
  }
  alarm(g_time_limit);
  served.reset();
  MPI_Finalize();
  return failed > 0 ? 1 : 0;
}
