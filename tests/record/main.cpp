// SPDX-License-Identifier: GPL-3.0-or-later
// Writes what the core answers to many plans, and says what differs between two such records: tests/record/README.md.
//
//   evaluation-record write FILE [--only TEXT] [--every N] [--random N] [--source FOLDER]
//   evaluation-record compare BEFORE AFTER [--plans N] [--most N] [--tolerance X] [--causes]
//   evaluation-record show NAME [--plan] [--causes] [--source FOLDER]
#include "core/base/output_file.h"
#include "core/facts/plan/plan_io.h"
#include "tests/record/comparison.h"
#include "tests/record/reading.h"
#include "tests/record/recorded_plans.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

using namespace trainyard;
using namespace trainyard::record;

namespace {

constexpr int kAgrees = 0, kDiffers = 1, kBadUsage = 2;

constexpr const char *kUsage = R"(usage:
  evaluation-record write FILE [--only TEXT] [--every N] [--random N] [--source FOLDER]
  evaluation-record compare BEFORE AFTER [--plans N] [--most N] [--tolerance X] [--causes]
  evaluation-record show NAME [--plan] [--causes] [--source FOLDER]
TEXT is a part of a plan's name: sample/, row/megatron, random/0017. FOLDER is the repository, for its samples.
)";

struct Arguments {
    std::vector<std::string> names;
    std::string only, source = TRAINYARD_SOURCE_DIR;
    std::size_t every = 1, random = kRandomPlans, plans = 20, most = 10;
    Tolerance tolerance;
    bool asksForPlan = false, asksForCauses = false;
};

bool isWhole(const std::string &text)
{
    return !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
}

bool setOption(Arguments &arguments, const std::string &option, const std::string &value)
{
    if (option == "--only")
        arguments.only = value;
    else if (option == "--source")
        arguments.source = value;
    else if (option == "--tolerance")
        arguments.tolerance.relative = std::atof(value.c_str());
    else if (!isWhole(value))
        return false;
    else if (option == "--every")
        arguments.every = std::max(1, std::stoi(value));
    else if (option == "--random")
        arguments.random = std::size_t(std::stoi(value));
    else if (option == "--plans")
        arguments.plans = std::size_t(std::stoi(value));
    else if (option == "--most")
        arguments.most = std::size_t(std::stoi(value));
    else
        return false;
    return true;
}

bool read(int argc, char **argv, Arguments &arguments)
{
    for (int i = 2; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--plan")
            arguments.asksForPlan = true;
        else if (argument == "--causes")
            arguments.asksForCauses = true;
        else if (!argument.starts_with("--"))
            arguments.names.push_back(argument);
        else if (i + 1 == argc || !setOption(arguments, argument, argv[++i]))
            return false;
    }
    return true;
}

int write(const Arguments &arguments)
{
    using Clock = std::chrono::steady_clock;
    const auto started = Clock::now();
    Coverage coverage;
    EvaluationWorkspace workspace;
    std::size_t number = 0, written = 0;
    const auto done = writeOutputFile(arguments.names.front(), [&](std::ostream &out) {
        RecordWriter writer(out);
        for (const NamedPlan &named : recordedPlans(arguments.source, unsigned(arguments.random))) {
            if (named.name.find(arguments.only) == std::string::npos || number++ % arguments.every != 0)
                continue;
            const PlanPtr plan = named.make();
            if (!plan) {
                std::cerr << named.name << " cannot be read\n";
                continue;
            }
            const auto began = Clock::now();
            writer.add(recordOf(named.name, plan, workspace, &coverage));
            ++written;
            if (const double seconds = std::chrono::duration<double>(Clock::now() - began).count(); seconds > 2)
                std::cerr << named.name << " took " << seconds << " s\n";
        }
    });
    if (!done) {
        std::cerr << toString(done.error()) << '\n';
        return kBadUsage;
    }
    for (const auto &[feature, count] : coverage.counts())
        std::cerr << count << "  " << feature << '\n';
    std::cerr << written << " plans written in " << std::chrono::duration<double>(Clock::now() - started).count()
              << " s\n";
    return kAgrees;
}

Expected<Record> readFile(const std::string &path)
{
    std::ifstream in(path);
    if (!in)
        return std::unexpected(Error { ErrorCode::CannotRead, path, "cannot be read", "a record of evaluations" });
    auto record = readRecord(in);
    if (!record)
        record.error().where = path + ": " + record.error().where;
    return record;
}

int compare(const Arguments &arguments)
{
    const auto before = readFile(arguments.names[0]), after = readFile(arguments.names[1]);
    for (const auto *record : { &before, &after }) {
        if (!*record) {
            std::cerr << toString(record->error()) << '\n';
            return kBadUsage;
        }
    }
    Tolerance tolerance = arguments.tolerance;
    tolerance.ofCauses = !arguments.asksForCauses;
    const Comparison comparison = compared(*before, *after, tolerance);
    writeComparison(std::cout, comparison, arguments.plans, arguments.most);
    return comparison.agrees() ? kAgrees : kDiffers;
}

int show(const Arguments &arguments)
{
    for (const NamedPlan &named : recordedPlans(arguments.source)) {
        if (named.name != arguments.names.front())
            continue;
        const PlanPtr plan = named.make();
        if (!plan)
            break;
        if (arguments.asksForPlan) {
            std::cout << formatPlan(*plan);
            return kAgrees;
        }
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(plan, builtinCatalogue(), workspace, {}, Depth::Spans);
        if (evaluation) {
            writeText(std::cout, named.name, **evaluation, arguments.asksForCauses);
        } else {
            for (const Error &error : evaluation.error())
                std::cout << toString(error) << '\n';
        }
        return kAgrees;
    }
    std::cerr << "there is no plan " << arguments.names.front() << '\n';
    return kBadUsage;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string command = argc > 1 ? argv[1] : "";
    Arguments arguments;
    const bool isRead = read(argc, argv, arguments);
    if (isRead && command == "write" && arguments.names.size() == 1)
        return write(arguments);
    if (isRead && command == "compare" && arguments.names.size() == 2)
        return compare(arguments);
    if (isRead && command == "show" && arguments.names.size() == 1)
        return show(arguments);
    std::cerr << kUsage;
    return kBadUsage;
}
