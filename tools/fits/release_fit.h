#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How the releases of a stack differ in time, from published rows of equal plans under several of them: what
// resources/catalog/stack_releases.json holds. No prediction enters, so that it does not change with the model. Pure
// functions of values. docs/model.md, "Stacks".

#include "core/evaluation/validation/rows.h"
#include "core/facts/catalogue/catalogue.h"

#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// What was measured for one plan under one release.
struct ReleaseTime {
    std::string stack, release;
    std::string plan; // equal for equal plans of one source, whatever their release
    bool isMoe = false;
    double logTime = 0; // of a time, or minus that of a rate
    double weight = 1; // of the row where the stack itself is fitted
};

/// How far the releases explain the times of models of one kind.
struct ReleaseResidual {
    int rows = 0, plans = 0; // of plans under two releases or more
    int ages = 0; // groups of releases of one time
    double deviation = 0; // of log time, what is left
};

struct ReleaseFit {
    std::string stack;
    std::vector<StackRelease> releases; // oldest first
    ReleaseResidual dense, experts;
};

/// The rows that may be fitted to and name a release.
[[nodiscard]] std::vector<ReleaseTime> releaseTimes(std::span<const RowSet> sets, const Catalogue &catalogue);

/// log time = plan + age, least squares. An age is one release or several in a row: of all ways to cut the releases
/// into ages, each tied to the others by two plans or more, the one with the least information criterion (Akaike's,
/// corrected for few rows). A release that no plan ties to others is of the age of the one before it. `known`: all that
/// rows name, by stack. Times are relative to the Huber centre of all the rows, where the stack was fitted.
[[nodiscard]] std::vector<ReleaseFit> fitReleases(
    std::span<const ReleaseTime> times, std::span<const std::pair<std::string, std::string>> known);

/// Whether release `a` is older: numbers between dots count as numbers.
[[nodiscard]] bool isOlderRelease(const std::string &a, const std::string &b);

/// The file's text. `date`: "2026-11-21".
[[nodiscard]] std::string releasesJson(std::span<const ReleaseFit> fits, const std::string &date);

} // namespace trainyard
