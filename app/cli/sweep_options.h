#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What `trainyard-cli sweep` and the MPI program `trainyard-sweep` take alike: the plan, the keys, the file. Main
// thread only.

#include "app/cli/parser.h"
#include "core/planner/sweep/run_sweep.h"

#include <string>
#include <vector>

namespace trainyard::cli {

struct SweepOptions {
    std::string plan, out, format;
    std::vector<std::string> settings, vary;
    int random = 0, seed = 1;
    /// 0: all cores
    int threads = 0;
    bool resume = false;
};

void addSweepOptions(const Subcommand &command, SweepOptions &options);

/// A sweep that has no faults, and where its rows go.
struct Sweep {
    SweepSpec spec;
    SweepFormat format = SweepFormat::Csv;
    /// "-": standard output
    std::string out;

    /// Of the file, absolute; of rows that are printed the one that the program runs in.
    [[nodiscard]] std::string folder() const;
    [[nodiscard]] Expected<SweepFile> openFile(bool resume) const;
};
[[nodiscard]] ExpectedAll<Sweep> preparedSweep(const SweepOptions &options);

/// "1,024 rows: 900 feasible, 100 infeasible, 24 refused".
[[nodiscard]] std::string sentenceOf(const SweepEnd &end, const SweepSpec &spec);
/// The command line with --resume, as one would type it: "trainyard-cli sweep plan.json --vary … --resume".
[[nodiscard]] std::string resumeLine(const std::string &program, const SweepOptions &options);
/// A word as bash takes it, without a byte that a terminal would obey.
[[nodiscard]] std::string quotedForShell(const std::string &word);

} // namespace trainyard::cli
