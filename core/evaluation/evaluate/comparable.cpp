// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/comparable.h"

#include "core/base/printable.h"
#include "core/facts/workload/worst_doubt.h"

namespace trainyard {

namespace {

constexpr std::size_t kMostShown = 200;

} // namespace

std::string whyNotCompared(const Doubts &doubts)
{
    const Doubt *worst = worstDoubt(doubts);
    return worst ? "not compared: " + shortened(toString(*worst), kMostShown) : std::string();
}

std::string whyNotCompared(const Evaluation &one)
{
    return whyNotCompared(one.model.doubts);
}

std::string whyNotCompared(const Evaluation &one, const Evaluation &other)
{
    std::string why = whyNotCompared(one);
    return why.empty() ? whyNotCompared(other) : why;
}

} // namespace trainyard
