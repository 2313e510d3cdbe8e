#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans of a record: every sample, every row of published measurements, and random ones in which every feature of a
// plan occurs often. A random plan follows from its number alone, on any standard library.

#include "core/evaluation/advice/evaluate.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trainyard::record {

inline constexpr unsigned kRandomPlans = 3000;

struct NamedPlan {
    std::string name; // "sample/…", "row/<source>/<row>", "random/<number>"
    std::function<PlanPtr()> make; // null where a sample cannot be read
};

/// In this order: samples, rows, random plans. `repository` has the samples.
[[nodiscard]] std::vector<NamedPlan> recordedPlans(const std::string &repository, unsigned random = kRandomPlans);

[[nodiscard]] PlanPtr randomPlan(unsigned number);

/// The same work in other times and mostly in the same order: what a change of a figure looks like to a graph that is
/// kept.
[[nodiscard]] PlanPtr slowedDown(const Plan &plan);

/// Features of plans -> how many of them were evaluated to spans: "schedule zb-v", "cells of several pipelines".
class Coverage {
public:
    Coverage();
    void add(const Evaluation &evaluation);
    [[nodiscard]] const std::map<std::string, int> &counts() const { return m_counts; }

private:
    std::map<std::string, int> m_counts; // 0 for what did not occur
};

} // namespace trainyard::record
