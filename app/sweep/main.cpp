// SPDX-License-Identifier: GPL-3.0-or-later
// `mpirun trainyard-sweep`: the command `trainyard-cli sweep` over the ranks of MPI. Rank 0 alone reads the command
// line and the plan, writes the file, and computes beside that; every rank has as many threads as --threads says, one
// unless told. A program of its own, so that trainyard-cli needs no MPI.
#include "app/cli/command.h"
#include "app/cli/parser_manual.h"
#include "app/cli/progress.h"
#include "app/cli/signals.h"
#include "app/cli/sweep_options.h"
#include "app/sweep/coordinator.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>
#include <unistd.h>

namespace trainyard::sweep {

namespace {

using namespace trainyard::cli;

struct Options {
    SweepOptions sweep;
    double lostAfter = 30;
    bool isAsked = false; // the command line is read and wants rows
};

/// The exit code; `options.isAsked` says whether there is something to do.
int readCommandLine(int argc, char **argv, Options &options)
{
    CLI::App app("A sweep over the ranks of MPI: mpirun -n 64 trainyard-sweep PLAN --vary ... --out OUT.csv --resume",
        "trainyard-sweep");
    addQuestions(app);
    const Subcommand command(app);
    options.sweep.threads = 1;
    addSweepOptions(command, options.sweep);
    command.number("--threads", options.sweep.threads, "Rows at once on each rank; 0: as many as there are cores")
        .between(0, 4096)
        .shownAs("N")
        .showingDefault();
    command
        .real("--lost-after", options.lostAfter,
            "A rank that is silent for so long is lost, and others do its rows; mpirun ends the whole job before that "
            "unless it is given --enable-recovery")
        .shownAs("S")
        .showingDefault();
    command.exitCodes("");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        const bool isHelp = error.get_exit_code() == int(CLI::ExitCodes::Success);
        std::ostringstream wrong;
        app.exit(error, std::cout, wrong);
        std::cerr << shortened(printable(wrong.str(), LineBreaks::Kept), 2000);
        return isHelp ? kDone : kBadInput;
    }
    if (!(options.lostAfter >= 2 && options.lostAfter <= 86400))
        return fail({ { ErrorCode::BadValue, "--lost-after", "is no time to wait", "2 to 86400 seconds" } });
    options.isAsked = true;
    return kDone;
}

/// Ranks that do not know of each other would each do all of it.
bool isAloneInAJob()
{
    const char *tasks = std::getenv("SLURM_NTASKS");
    return Mailbox::ranks() == 1 && std::getenv("SLURM_PROCID") && tasks && std::atoi(tasks) > 1;
}

void shareText(std::string &text)
{
    std::uint64_t size = text.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    text.resize(size);
    MPI_Bcast(text.data(), int(size), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/// What every rank has to know: the sweep as its head says it.
struct Setting {
    std::string head, folder; // of the file of rows; no head: there is nothing to do
    std::uint64_t format = 0, threads = 1;
    double lostAfter = 0;

    void share()
    {
        shareText(head);
        shareText(folder);
        MPI_Bcast(&format, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        MPI_Bcast(&threads, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        MPI_Bcast(&lostAfter, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
};

/// MPI cannot end in good order without the lost; the file is closed and whole.
[[noreturn]] void leaveWithout(int exitCode)
{
    std::cout.flush();
    std::cerr.flush();
    ::_exit(exitCode);
}

int follow()
{
    // Who ends the job signals all of it: rank 0 says when.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    Setting setting;
    setting.share();
    if (setting.head.empty())
        return kDone;
    const auto spec = parseSweepHead(setting.head, "the sweep of rank 0", setting.folder);
    if (!spec)
        return fail(spec.error());
    Mailbox mail;
    bool isInOrder = false;
    {
        SweepWorkers workers(*spec, SweepFormat(setting.format), builtinCatalogue(), setting.threads);
        isInOrder = work(mail, workers, setting.lostAfter);
    }
    if (!isInOrder)
        leaveWithout(kDone);
    return kDone;
}

int report(const SweepEnd &end, const Sweep &sweep, const SweepFile &file, const SweepOptions &options)
{
    if (end.isStopped) {
        std::cerr << "stopped: " << wholeText(double(end.written)) << " of " << wholeText(double(sweep.spec.rows()))
                  << " rows are written\n";
        if (file.isRegular())
            std::cerr << "go on with: " << resumeLine("trainyard-sweep", options) << '\n';
        return kInterrupted;
    }
    if (file.isRegular())
        std::cout << sentenceOf(end, sweep.spec) << '\n';
    return kDone;
}

int lead(int argc, char **argv)
{
    Setting setting;
    const auto refuse = [&](int exitCode) {
        setting.head.clear();
        setting.share();
        return exitCode;
    };
    Options options;
    if (const int exitCode = readCommandLine(argc, argv, options); !options.isAsked)
        return refuse(exitCode);
    if (isAloneInAJob())
        return refuse(fail({ { ErrorCode::BadValue, "srun",
            "has started several programs that know nothing of each other", "srun --mpi=pmix, or mpirun" } }));
    const auto sweep = preparedSweep(options.sweep);
    if (!sweep)
        return refuse(fail(sweep.error()));
    auto file = sweep->openFile(options.sweep.resume);
    if (!file)
        return refuse(fail({ file.error() }));
    if (const auto same = checkLastRow(sweep->spec, sweep->format, builtinCatalogue(), *file, {}); !same)
        return refuse(fail({ same.error() }));
    setting = { sweepHead(sweep->spec, SweepFormat::JsonLines), sweep->folder(), std::uint64_t(sweep->format),
        std::uint64_t(options.sweep.threads), options.lostAfter };
    setting.head.pop_back(); // its end of line
    setting.share();

    Interruption interruption;
    Progress progress("rows");
    Mailbox mail;
    Expected<SweepEnd> end;
    bool hasLost = false;
    {
        SweepWorkers workers(sweep->spec, sweep->format, builtinCatalogue(), setting.threads);
        Coordinator coordinator(mail, workers, *file, sweep->spec.rows(), options.lostAfter);
        end = coordinator.run(interruption.token(), [&](const SweepProgress &now) {
            progress.show(std::size_t(now.written - file->rowsThere()), std::size_t(now.rows - file->rowsThere()));
        });
        hasLost = coordinator.hasLost();
    }
    progress.clear();
    if (end)
        if (auto synced = file->sync(); !synced)
            end = std::unexpected(std::move(synced.error()));
    const int exitCode = end ? report(*end, *sweep, *file, options.sweep) : fail({ end.error() });
    if (hasLost)
        leaveWithout(exitCode);
    return exitCode;
}

/// Who asks about the program itself needs no MPI. Where a launcher started many of it, one of them answers, below.
bool isQuestion(int argc, char **argv)
{
    const auto isSet = [](const char *name) { return std::getenv(name) != nullptr; };
    const auto asks = [&](const char *name) { return argc > 1 && std::string_view(argv[1]) == name; };
    return (asks("--help") || asks("-h") || asks("--version") || asks("--manual")) && !isSet("OMPI_COMM_WORLD_RANK")
        && !isSet("PMIX_RANK") && !isSet("PMI_RANK") && !isSet("SLURM_PROCID");
}

int answer(int argc, char **argv)
{
    Options options;
    return readCommandLine(argc, argv, options);
}

} // namespace

} // namespace trainyard::sweep

int main(int argc, char **argv)
{
    if (trainyard::sweep::isQuestion(argc, argv))
        return trainyard::sweep::answer(argc, argv);
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    trainyard::cli::cleanUpOnSignals();
    int exitCode = trainyard::cli::kInternal;
    try {
        exitCode =
            trainyard::sweep::Mailbox::rank() == 0 ? trainyard::sweep::lead(argc, argv) : trainyard::sweep::follow();
    } catch (const std::exception &error) {
        std::cerr << "trainyard-sweep: internal error: "
                  << trainyard::shortened(trainyard::printable(error.what()), 400) << std::endl;
        MPI_Abort(MPI_COMM_WORLD, exitCode);
    }
    MPI_Finalize();
    return exitCode;
}
