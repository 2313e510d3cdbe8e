// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the time habits of software stacks, and the rates that GPUs sustain within a training step, to published
// training runs: the rows of resources/validation whose role is "fit". All stacks at once, because a GPU's rate is
// every stack's: robust least squares on the log of predicted over published time (Levenberg-Marquardt, Huber weights),
// every source of a stack with equal weight, each parameter drawn to a prior as wide as our ignorance. Writes
// stack_times.json with residuals, and sustained.json beside it.
//
//   fit-stacks OUT/stack_times.json [--rows FILE]... [--verbose]
#include "tools/fit_stacks/joint_fit.h"
#include "tools/today.h"

#include <fstream>
#include <iostream>

using namespace trainyard;
using namespace fit_stacks;

namespace {

OrderedJson readObject(const std::string &path)
{
    std::ifstream in(path);
    return OrderedJson::parse(in, nullptr, false);
}

/// One line an entry of `list`.
bool write(const std::string &path, const OrderedJson &file, const char *list, bool isOneLine)
{
    const std::string partial = path + ".part";
    {
        std::ofstream out(partial);
        out << "{\n\"sources\": " << file["sources"].dump(2) << ",\n\"" << list << "\": [\n";
        for (std::size_t s = 0; s < file[list].size(); ++s) {
            const char *end = s + 1 < file[list].size() ? ",\n" : "\n";
            if (isOneLine) {
                out << "  " << file[list][s].dump() << end;
                continue;
            }
            out << "  {\n";
            std::size_t k = 0;
            for (const auto &[key, value] : file[list][s].items())
                out << "    \"" << key << "\": " << value.dump() << (++k < file[list][s].size() ? ",\n" : "\n");
            out << "  }" << end;
        }
        out << "]\n}\n";
    }
    return std::rename(partial.c_str(), path.c_str()) == 0;
}

double kept(double value)
{
    return std::stod(rounded(value));
}

void setStacks(OrderedJson &file, const JointFit &fit, bool isVerbose)
{
    const auto entryOf = [&](const std::string &id) -> OrderedJson & {
        return *std::find_if(file["stacks"].begin(), file["stacks"].end(),
            [&](const OrderedJson &e) { return e.value("id", "") == id; });
    };
    for (const Unknown &u : fit.unknowns())
        if (!u.isRate)
            entryOf(u.owner)[u.key] = { kept(fit.catalogue().stack(u.owner)->*byKey(kParameters, u.key).field), "fit" };
    for (const Inherited &same : kInherited)
        entryOf(same.stack)[same.key] = {
            kept(fit.catalogue().stack(same.relative)->*byKey(kParameters, same.key).field), "relative"
        };
    for (const auto &[stack, keys] : kFitted) {
        const OrderedJson residuals = fit.residualsOf(stack, isVerbose);
        if (!residuals.empty())
            entryOf(stack)["fit"] = residuals;
        std::cerr << stack << " " << residuals.dump() << '\n';
    }
    file["sources"]["fit"] = { { "title", "fitted by tools/fit_stacks to the rows named under \"fit\"" },
        { "date", today() } };
    file["sources"]["relative"] = {
        { "title", "fitted for a relative that runs the same kernels, tools/fit_stacks names it" }, { "date", today() }
    };
}

void setRates(OrderedJson &file, const JointFit &fit)
{
    for (OrderedJson &entry : file["architectures"]) {
        const std::string architecture = entry.value("architecture", "");
        for (const ArchitectureRates &known : fit.catalogue().sustained) {
            if (known.architecture != architecture)
                continue;
            for (const Rate &rate : kRates) {
                const bool isFitted = std::any_of(fit.unknowns().begin(), fit.unknowns().end(), [&](const Unknown &u) {
                    return u.isRate && u.owner == architecture
                        && (u.key == rate.key || (architecture == "Ampere" && rate.field == &SustainedRates::half));
                });
                entry[rate.key] = { kept(known.rates.*rate.field), isFitted ? "fit" : "relative" };
            }
        }
    }
    file["sources"]["fit"] = { { "title",
                                   "fitted by tools/fit_stacks to the published runs of all stacks whose role is fit" },
        { "date", today() } };
    file["sources"]["relative"] = {
        { "title",
            "the architecture's own clock, and the mean of what the fitted ones deviate from theirs; where it has no "
            "runs their mean clock; Pascal, Volta, Turing and Ada: Ampere's" },
        { "date", today() }
    };
}

} // namespace

int main(int argc, char **argv)
{
    std::string path;
    bool isVerbose = false;
    std::vector<RowSet> rows;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--rows" && i + 1 < argc) {
            auto read = readRows(argv[++i]);
            if (!read) {
                for (const Error &error : read.error())
                    std::cerr << toString(error) << '\n';
                return 2;
            }
            rows.push_back(std::move(*read));
        } else if (argument == "--verbose")
            isVerbose = true;
        else
            path = argument;
    }
    const std::string ratesPath = path.substr(0, path.find_last_of('/') + 1) + "sustained.json";
    OrderedJson stacks = readObject(path), rates = readObject(ratesPath);
    if (!stacks.is_object() || !stacks.contains("stacks") || !rates.is_object() || !rates.contains("architectures")) {
        std::cerr << "usage: fit-stacks resources/catalog/stack_times.json [--rows FILE]... [--verbose], "
                     "sustained.json beside it\n";
        return 2;
    }
    JointFit fit(builtinCatalogue(), rows.empty() ? builtinRows() : rows);
    fit.run(isVerbose);
    setStacks(stacks, fit, isVerbose);
    setRates(rates, fit);
    return write(path, stacks, "stacks", false) && write(ratesPath, rates, "architectures", true) ? 0 : 1;
}
