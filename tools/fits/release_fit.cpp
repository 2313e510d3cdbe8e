// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fits/release_fit.h"

#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/iteration/placement/stage_source.h"

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kTies = 2; // plans that an age shares with others: a single one could be that plan's own
constexpr double kHuberLimit = 1.5 * 0.05; // of log time: where tools/fit_stacks begins to trust a row less
constexpr double kDigits = 1e-4; // published figures have four digits: nothing is known better

using Ages = std::map<std::string, int>; // release -> age

/// The times of plans that were measured under two releases or more.
std::vector<ReleaseTime> tied(std::span<const ReleaseTime> times)
{
    std::map<std::string, std::set<std::string>> releases;
    for (const ReleaseTime &t : times)
        releases[t.plan].insert(t.release);
    std::vector<ReleaseTime> kept;
    std::ranges::copy_if(
        times, std::back_inserter(kept), [&](const ReleaseTime &t) { return releases[t.plan].size() > 1; });
    return kept;
}

std::vector<std::string> releasesOf(std::span<const ReleaseTime> times)
{
    std::vector<std::string> names;
    for (const ReleaseTime &t : times)
        names.push_back(t.release);
    std::ranges::sort(names, isOlderRelease);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

struct Solution {
    std::vector<double> effects; // of the ages, log time
    double squares = 0; // what is left
    double criterion = 0;
};

/// Whether every age has enough plans that it shares with another.
bool isTied(std::span<const ReleaseTime> times, const Ages &ages, int count)
{
    std::map<std::string, std::set<int>> agesOfPlan;
    for (const ReleaseTime &t : times)
        agesOfPlan[t.plan].insert(ages.at(t.release));
    for (int age = 0; age < count; ++age) {
        const auto ties = std::ranges::count_if(
            agesOfPlan, [&](const auto &plan) { return plan.second.size() > 1 && plan.second.contains(age); });
        if (std::size_t(ties) < kTies)
            return false;
    }
    return true;
}

/// Empty where the plans do not tie all ages to each other, or the rows are too few to judge.
std::optional<Solution> solved(std::span<const ReleaseTime> times, const Ages &ages, int count)
{
    std::map<std::string, Eigen::Index> plans;
    for (const ReleaseTime &t : times)
        plans.try_emplace(t.plan, Eigen::Index(plans.size()));
    const auto rows = Eigen::Index(times.size()),
               columns = Eigen::Index(plans.size()) + count - 1; // the first age is 0
    Eigen::MatrixXd design = Eigen::MatrixXd::Zero(rows, columns);
    Eigen::VectorXd measured(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
        const ReleaseTime &t = times[std::size_t(i)];
        design(i, plans.at(t.plan)) = 1;
        if (const int age = ages.at(t.release); age > 0)
            design(i, Eigen::Index(plans.size()) + age - 1) = 1;
        measured[i] = t.logTime;
    }
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(design);
    if (qr.rank() < columns)
        return std::nullopt;
    const Eigen::VectorXd x = qr.solve(measured);
    Solution solution;
    solution.effects.push_back(0);
    for (int age = 1; age < count; ++age)
        solution.effects.push_back(x[Eigen::Index(plans.size()) + age - 1]);
    solution.squares = (measured - design * x).squaredNorm();
    // Akaike's criterion with the correction for few rows (Hurvich and Tsai 1989); the variance is a parameter too.
    const double n = double(rows), k = double(columns) + 1;
    if (n - k - 1 <= 0)
        return std::nullopt;
    solution.criterion =
        n * std::log(std::max(solution.squares / n, kDigits * kDigits)) + 2 * k + 2 * k * (k + 1) / (n - k - 1);
    return solution;
}

struct Cut {
    Ages ages;
    int count = 1;
    Solution solution;
};

/// All ways to cut the releases into ages: two to the power of one less than their number. Tens of releases would need
/// a search. Empty where there are too few rows for any.
std::optional<Cut> bestCut(std::span<const ReleaseTime> times)
{
    const std::vector<std::string> releases = releasesOf(times);
    std::vector<Cut> cuts;
    for (std::size_t mask = 0; mask < std::size_t { 1 } << (releases.size() - 1); ++mask) {
        Cut cut;
        for (std::size_t i = 0; i < releases.size(); ++i) {
            cut.count += i > 0 && ((mask >> (i - 1)) & 1U) != 0;
            cut.ages[releases[i]] = cut.count - 1;
        }
        if (cut.count > 1 && !isTied(times, cut.ages, cut.count))
            continue;
        if (auto solution = solved(times, cut.ages, cut.count)) {
            cut.solution = std::move(*solution);
            cuts.push_back(std::move(cut));
        }
    }
    const auto best = std::ranges::min_element(cuts, {}, [](const Cut &c) { return c.solution.criterion; });
    return best == cuts.end() ? std::nullopt : std::optional(*best);
}

/// The effect of the stack as fitted: its parameters lie where the rows pull evenly, those far off no more than others.
double centre(const std::vector<std::pair<double, double>> &effectsAndWeights)
{
    double at = 0;
    for (int round = 0; round < 100; ++round) {
        double sum = 0, weights = 0;
        for (const auto &[effect, weight] : effectsAndWeights) {
            const double w = weight * std::min(1.0, kHuberLimit / std::max(1e-12, std::abs(effect - at)));
            sum += w * effect;
            weights += w;
        }
        at = sum / weights;
    }
    return at;
}

/// Times of models of one kind, into `releases`.
ReleaseResidual fitKind(std::span<const ReleaseTime> times, bool isMoe, std::vector<StackRelease> &releases)
{
    ReleaseResidual residual;
    const std::vector<ReleaseTime> shared = tied(times);
    if (shared.empty())
        return residual;
    const std::optional<Cut> cut = bestCut(shared);
    if (!cut)
        return residual;
    const std::vector<std::string> measured = releasesOf(shared);
    const auto effectOf = [&](const std::string &release) { // of the newest that is not newer, else of the oldest
        const auto newer = std::ranges::upper_bound(measured, release, isOlderRelease);
        return cut->solution.effects[std::size_t(cut->ages.at(newer == measured.begin() ? *newer : *std::prev(newer)))];
    };
    std::vector<std::pair<double, double>> effects;
    for (const ReleaseTime &t : times)
        effects.emplace_back(effectOf(t.release), t.weight);
    const double fitted = centre(effects);
    std::map<std::string, std::set<std::string>> plansOf;
    std::set<std::string> plans;
    for (const ReleaseTime &t : shared) {
        plansOf[t.release].insert(t.plan);
        plans.insert(t.plan);
    }
    for (StackRelease &release : releases) {
        (isMoe ? release.experts : release.dense) = std::exp(effectOf(release.id) - fitted);
        (isMoe ? release.expertPlans : release.densePlans) = int(plansOf[release.id].size());
    }
    const double left = double(shared.size() - plans.size()) - (cut->count - 1);
    residual = { int(shared.size()), int(plans.size()), cut->count, std::sqrt(cut->solution.squares / left) };
    return residual;
}

bool isRate(const std::string &metric)
{
    return metric == "tokens_per_s" || metric == "tokens_per_s_per_gpu" || metric == "model_tflops_per_gpu"
        || metric == "mfu";
}

using Json = nlohmann::ordered_json;

Json releaseFigure(double value)
{
    return { std::round(value * 1e4) / 1e4, "fit" };
}

Json residualJson(const ReleaseResidual &r)
{
    return { { "rows", r.rows }, { "plans", r.plans }, { "ages", r.ages },
        { "deviation", std::round(r.deviation * 1e4) / 1e4 } };
}

} // namespace

bool isOlderRelease(const std::string &a, const std::string &b)
{
    const auto parts = [](const std::string &text) {
        std::vector<std::pair<long, std::string>> list;
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('.', at), text.size());
            const std::string part = text.substr(at, end - at);
            list.emplace_back(std::strtol(part.c_str(), nullptr, 10), part);
            at = end + 1;
        }
        return list;
    };
    return parts(a) < parts(b);
}

std::vector<ReleaseTime> releaseTimes(std::span<const RowSet> sets, const Catalogue &catalogue)
{
    std::vector<ReleaseTime> times;
    for (const RowSet &set : sets) {
        for (const ValidationRow &row : set.rows) {
            const Stack &stack = row.plan->stack;
            if (row.role != RowRole::Fit || stack.release.empty() || !stageFacts(*row.plan).hasLayers)
                continue;
            const auto published = std::ranges::find_if(row.published,
                [](const PublishedFigure &f) { return f.metric == "iteration_time_s" || isRate(f.metric); });
            const auto model = resolveModel(row.plan->workload, row.plan->baseDir, catalogue);
            if (published == row.published.end() || !model)
                continue;
            Plan ageless = *row.plan;
            ageless.stack.release.clear();
            // An assumed input of a plan is the same under all its releases; where the stack is fitted such a row
            // counts half.
            times.push_back({ stack.name, stack.release,
                set.source + " " + published->metric + " " + formatPlan(ageless), model->isMoe(),
                isRate(published->metric) ? -std::log(published->value) : std::log(published->value),
                row.status == RowStatus::Gated ? 1 : 0.25 });
        }
    }
    return times;
}

std::vector<ReleaseFit> fitReleases(
    std::span<const ReleaseTime> times, std::span<const std::pair<std::string, std::string>> known)
{
    std::map<std::string, std::set<std::string>> names;
    for (const auto &[stack, release] : known)
        names[stack].insert(release);
    for (const ReleaseTime &t : times)
        names[t.stack].insert(t.release);
    std::vector<ReleaseFit> fits;
    for (const auto &[stack, releases] : names) {
        ReleaseFit &fit = fits.emplace_back(ReleaseFit { stack, {}, {}, {} });
        for (const std::string &release : releases)
            fit.releases.push_back({ .id = release });
        std::ranges::sort(fit.releases, isOlderRelease, &StackRelease::id);
        for (const bool isMoe : { false, true }) {
            std::vector<ReleaseTime> ofKind;
            std::ranges::copy_if(times, std::back_inserter(ofKind),
                [&, name = stack](const ReleaseTime &t) { return t.stack == name && t.isMoe == isMoe; });
            (isMoe ? fit.experts : fit.dense) = fitKind(ofKind, isMoe, fit.releases);
        }
    }
    return fits;
}

std::string releasesJson(std::span<const ReleaseFit> fits, const std::string &date)
{
    const Json source { { "title",
                            "tools/fit_releases: times of equal plans under several releases, rows of "
                            "resources/validation whose role is fit" },
        { "date", date } };
    std::string text = "{\n\"sources\": {\"fit\": " + source.dump() + "},\n\"residuals\": {";
    for (std::size_t i = 0; i < fits.size(); ++i)
        text += (i > 0 ? ",\n  " : "\n  ") + Json(fits[i].stack).dump() + ": "
            + Json { { "dense", residualJson(fits[i].dense) }, { "experts", residualJson(fits[i].experts) } }.dump();
    text += "\n},\n\"releases\": [";
    const char *between = "\n  ";
    for (const ReleaseFit &fit : fits) {
        for (const StackRelease &r : fit.releases) {
            text += between
                + Json {
                      { "stack", fit.stack }, { "release", r.id }, { "dense", releaseFigure(r.dense) },
                      { "dense_plans", r.densePlans }, { "experts", releaseFigure(r.experts) },
                      { "expert_plans", r.expertPlans }
                  }.dump();
            between = ",\n  ";
        }
    }
    return text + "\n]\n}\n";
}

} // namespace trainyard
