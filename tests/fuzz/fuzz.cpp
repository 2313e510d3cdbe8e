// SPDX-License-Identifier: GPL-3.0-or-later
// Runs readers on inputs that are almost right, under the address and undefined-behaviour sanitizers:
//     fuzz TARGET|all [--executions N] [--seed S] [--source FOLDER] [--found FOLDER]
//     fuzz TARGET --replay FILE...
// The same seed gives the same inputs. What breaks a reader is written to FOLDER/TARGET-SEED-EXECUTION; exit code 1.
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>

#include <sanitizer/common_interface_defs.h>

extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options()
{
    return "detect_leaks=0:malloc_context_size=2:quarantine_size_mb=4:max_allocation_size_mb=2048";
}
extern "C" const char *__ubsan_default_options();
extern "C" const char *__ubsan_default_options()
{
    return "print_stacktrace=1:halt_on_error=1";
}

namespace {

using namespace trainyard::fuzz;

constexpr std::size_t kMostKept = 3000;

struct Options {
    std::string target = "all", source = TRAINYARD_SOURCE_DIR, found = ".";
    std::uint64_t executions = 10'000, seed = 1;
    std::vector<std::string> replays;
};

std::string currentInput, currentName; // for what the sanitizers end

void keep(const std::string &name, const std::string &input)
{
    std::ofstream(name, std::ios::binary) << input;
    std::fprintf(stderr, "fuzz: the input is in %s (%zu bytes)\n", name.c_str(), input.size());
}

std::string runOnce(const Target &target, const std::string &input, bool &isAccepted)
{
    try {
        const Outcome outcome = target.run(input);
        isAccepted = outcome.isAccepted;
        return outcome.broken;
    } catch (const std::exception &error) {
        return std::string("an exception leaves: ") + error.what();
    }
}

/// Every second input comes from one that was accepted, which reaches far; short ones run fast, and come more often.
std::size_t chosen(Mutator &mutator, const std::vector<std::string> &kept, const std::vector<std::size_t> &accepted)
{
    const bool isFromAccepted = !accepted.empty() && mutator.below(2) == 0;
    const auto any = [&] {
        return isFromAccepted ? accepted[mutator.below(accepted.size())] : mutator.below(kept.size());
    };
    const std::size_t first = any(), second = any();
    return kept[second].size() < kept[first].size() ? second : first;
}

int fuzz(const Target &target, const Options &options)
{
    const std::vector<std::string> seeds = target.seeds(options.source);
    Mutator mutator(options.seed, dictionary(seeds));
    std::vector<std::string> kept;
    std::vector<std::size_t> acceptedKept;
    std::uint64_t accepted = 0, broken = 0, done = 0;
    double slowest = 0;
    const auto started = std::chrono::steady_clock::now();
    const auto run = [&](const std::string &input, bool isSeed) {
        currentInput = input;
        currentName =
            options.found + "/" + target.name + "-" + std::to_string(options.seed) + "-" + std::to_string(done++);
        bool isAccepted = false;
        startInput();
        const auto before = std::chrono::steady_clock::now();
        const std::string fault = runOnce(target, input, isAccepted);
        slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
        accepted += isAccepted;
        if ((isNew() || isSeed) && kept.size() < kMostKept) {
            if (isAccepted)
                acceptedKept.push_back(kept.size());
            kept.push_back(input);
        }
        if (!fault.empty() && ++broken <= 20) {
            std::fprintf(stderr, "fuzz: %s: %s\n", target.name, fault.substr(0, 2000).c_str());
            keep(currentName, input);
        }
    };
    for (const std::string &seed : seeds)
        run(seed, true);
    while (done < options.executions) {
        const std::string &from = kept[chosen(mutator, kept, acceptedKept)], &other = kept[mutator.below(kept.size())];
        std::string input = mutator.mutated(from, other);
        input.resize(std::min(input.size(), target.mostBytes));
        run(input, false);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::printf("%-10s seed %llu: %llu executions, %.0f a second, %.1f %% accepted, %zu inputs kept, %zu edges, "
                "slowest %.0f ms, %llu broken\n",
        target.name, static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(done),
        double(done) / seconds, 100.0 * double(accepted) / double(done), kept.size(), edgesSeen(), 1e3 * slowest,
        static_cast<unsigned long long>(broken));
    std::fflush(stdout);
    return broken > 0;
}

int replay(const Target &target, const Options &options)
{
    int exitCode = 0;
    for (const std::string &name : options.replays) {
        std::ifstream file(name, std::ios::binary);
        const std::string input { std::istreambuf_iterator<char>(file), {} };
        bool isAccepted = false;
        const std::string fault = runOnce(target, input, isAccepted);
        std::printf("%s: %s\n", name.c_str(), !fault.empty() ? fault.c_str() : isAccepted ? "accepted" : "refused");
        exitCode |= !fault.empty();
    }
    return exitCode;
}

bool read(int argc, char **argv, Options &options)
{
    if (argc < 2)
        return false;
    options.target = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string name = argv[i];
        if (i + 1 >= argc)
            return false;
        if (name == "--replay") {
            options.replays.assign(argv + i + 1, argv + argc);
            return true;
        }
        const char *value = argv[++i];
        if (name == "--executions")
            options.executions = std::strtoull(value, nullptr, 10);
        else if (name == "--seed")
            options.seed = std::strtoull(value, nullptr, 10);
        else if (name == "--source")
            options.source = value;
        else if (name == "--found")
            options.found = value;
        else
            return false;
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    const bool isRead = read(argc, argv, options);
    const auto isWanted = [&](const Target &target) {
        return options.target == "all" || options.target == target.name;
    };
    if (!isRead || std::ranges::none_of(targets(), isWanted)) {
        std::fputs("usage: fuzz TARGET|all [--executions N] [--seed S] [--source FOLDER] [--found FOLDER] [--replay "
                   "FILE...]; TARGET:",
            stderr);
        for (const Target &target : targets())
            std::fprintf(stderr, " %s", target.name);
        std::fputs("\n", stderr);
        return 2;
    }
    __sanitizer_set_death_callback([] { keep(currentName, currentInput); });
    int exitCode = 0;
    for (const Target &target : targets())
        if (isWanted(target))
            exitCode |= options.replays.empty() ? fuzz(target, options) : replay(target, options);
    return exitCode;
}
