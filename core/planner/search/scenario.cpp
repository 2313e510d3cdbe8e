// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/scenario.h"

#include "core/base/ascii_text.h"
#include "core/base/printable.h"
#include "core/base/split_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/run.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/cluster/zone_links.h"
#include "core/facts/plan/calibration.h"
#include "core/facts/plan/plan_diff.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kPriceChange = 30; // %, of the two that are named
constexpr std::size_t kMostListed = 20;

/// All digits that tell it from its neighbours.
std::string exact(double value)
{
    char text[32];
    return { text, std::to_chars(std::begin(text), std::end(text), value).ptr };
}

std::string at(const char *list, std::size_t index)
{
    return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string labelOf(const Plan &plan, const std::string &id)
{
    const int index = plan.cluster.indexOf(id);
    return index < 0 ? id : plan.cluster.datacenters[std::size_t(index)].label();
}

/// Whether what node pairs of the link reach was measured, so that node_pair_gbps does not count.
bool isMeasured(const Plan &plan, const WanLink &link)
{
    if (plan.cluster.indexOf(link.between[0]) < 0 || plan.cluster.indexOf(link.between[1]) < 0)
        return false;
    const auto factors = calibrationOf(plan);
    return zonePairRate(plan.cluster, link, Bytes { 1e6 })
        || (factors && std::ranges::any_of(*factors, [&](const auto &entry) {
               const CalibrationFactor &factor = entry.second;
               return factor.what == CalibratedPart::Wan && factor.gbytesPerS
                   && (factor.between.empty() || std::ranges::is_permutation(factor.between, link.between));
           }));
}

Scenario halfOf(const Plan &plan, std::size_t index)
{
    const WanLink &link = plan.cluster.wanLinks[index];
    Scenario half { .name = labelOf(plan, link.between[0]) + "–" + labelOf(plan, link.between[1]) + " at half" };
    const std::string key = at("cluster.wan_links", index);
    half.settings = { { key + ".capacity_gbps", exact(link.capacityGbps / 2) },
        { key + ".node_pair_gbps", exact(link.nodePairGbps / 2) } };
    if (isMeasured(plan, link)) { // what passes takes twice as long; the last of all factors by its name
        CalibrationFactor twice;
        twice.what = CalibratedPart::Wan;
        twice.between = { link.between[0], link.between[1] };
        twice.factor = 2;
        half.settings.emplace_back("calibration.~half-" + std::to_string(index), formatCalibrationFactor(twice));
    }
    return half;
}

/// The price of GPUs, drives and power: what is paid by the hour. Egress stays.
Scenario pricesTimes(const Plan &plan, const Catalogue &catalogue, double percent)
{
    Scenario scenario;
    scenario.name = std::string("prices ") + (percent < 0 ? "−" : "+") + plainNumber(std::abs(percent)) + " %";
    const double factor = 1 + percent / 100;
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        if (const double price = datacenter.usdPerKwh.value_or(0); price > 0)
            scenario.settings.emplace_back(at("cluster.datacenters", d) + ".usd_per_kwh", exact(price * factor));
        for (const Pool &pool : datacenter.pools) {
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            const double ofGpu = pool.usdPerGpuHour.value_or(gpu ? gpu->usdPerHour : 0);
            const double ofDrives = pool.ssd ? pool.ssd->usd : 0;
            if (ofGpu > 0 || ofDrives > 0)
                scenario.prices.push_back({ datacenter.id, pool.id, ofGpu * factor, ofDrives * factor });
        }
    }
    return scenario;
}

std::optional<Scenario> slowWorld(const Plan &plan)
{
    if (hasJobs(plan))
        return std::nullopt; // which have no range
    return Scenario { .name = "slow: the end of its range", .isSlowEnd = true };
}

/// The names alone, in their order, without what has to be evaluated for them.
std::vector<std::string> names(const Plan &plan, std::size_t most)
{
    std::vector<std::string> texts;
    for (const WanLink &link : plan.cluster.wanLinks)
        if (texts.size() < most)
            texts.push_back("half:" + link.between[0] + "-" + link.between[1]);
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        if (texts.size() < most && plan.cluster.datacenters.size() > 1)
            texts.push_back("lost:" + datacenter.id);
    for (const char *text : { "prices+30%", "prices-30%", "slow" })
        texts.emplace_back(text);
    return texts;
}

Error noScenario(const Plan &plan, std::string_view text, const std::string &what)
{
    const std::string near = nearestName(text, names(plan, 10'000));
    return { ErrorCode::UnknownName, {}, what,
        !near.empty() ? "for example " + near
                      : "KEY=VALUE,KEY=VALUE or one of " + joined(names(plan, kMostListed), ", ", " or ") };
}

/// "prices+30%": 30. Nothing else is a change of prices; NaN where it is one that cannot be.
std::optional<double> priceChange(std::string_view text)
{
    constexpr std::string_view kBegin = "prices";
    if (!text.starts_with(kBegin) || !text.ends_with('%') || text.size() < kBegin.size() + 3)
        return std::nullopt;
    const char sign = text[kBegin.size()];
    const std::string_view digits = text.substr(kBegin.size() + 1, text.size() - kBegin.size() - 2);
    double percent = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
    if ((sign != '+' && sign != '-') || error != std::errc() || end != digits.data() + digits.size())
        return std::nullopt;
    return percent < 0 || percent > 1e4 || (sign == '-' && percent >= 100) ? std::nan("")
        : sign == '-'                                                      ? -percent
                                                                           : percent;
}

ExpectedAll<Scenario> namedScenario(const Plan &plan, const Catalogue &catalogue, std::string_view text)
{
    const auto fail = [](Error error) { return std::unexpected(Errors { std::move(error) }); };
    const std::string quoted = shortened(printable(text));
    if (text.starts_with("half:")) {
        const std::string_view ends = text.substr(5);
        for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
            const auto &[a, b] = plan.cluster.wanLinks[i].between;
            if (ends == a + "-" + b || ends == b + "-" + a)
                return halfOf(plan, i);
        }
        return fail(noScenario(plan, text, quoted + " names no link of the plan"));
    }
    if (text.starts_with("lost:")) {
        const std::string id(text.substr(5));
        if (plan.cluster.indexOf(id) < 0)
            return fail(noScenario(plan, text, quoted + " names no datacenter of the plan"));
        return Scenario { .name = labelOf(plan, id) + " lost", .lostDatacenter = id };
    }
    if (const auto percent = priceChange(text)) {
        if (std::isnan(*percent))
            return fail({ ErrorCode::BadValue, {}, quoted + " is no change that prices can have",
                "prices+30%, prices-30%, up to ten thousand percent more and less than a hundred less" });
        Scenario scenario = pricesTimes(plan, catalogue, *percent);
        if (scenario.settings.empty() && scenario.prices.empty())
            return fail({ ErrorCode::BadValue, {}, quoted + ": neither plan nor catalogue has a price",
                "a plan with usd_per_gpu_hour or usd_per_kwh" });
        return scenario;
    }
    if (text == "slow") {
        if (auto slow = slowWorld(plan))
            return *std::move(slow);
        return fail({ ErrorCode::BadValue, {}, "slow: the plan has no iteration with a range of confidence",
            "a plan that can be evaluated" });
    }
    return fail(noScenario(plan, text, quoted + " is no scenario"));
}

ExpectedAll<Scenario> settingsScenario(const Plan &plan, std::string_view text)
{
    const auto pieces = splitOutside(text);
    if (!pieces)
        return std::unexpected(Errors { pieces.error() });
    Scenario scenario;
    for (const std::string_view piece : *pieces) {
        const std::size_t equals = piece.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return std::unexpected(Errors { noScenario(plan, piece,
                (piece.empty() ? "an empty setting" : shortened(printable(piece)) + " is no setting")
                    + std::string(" of a scenario")) });
        scenario.settings.emplace_back(trimmed(piece.substr(0, equals)), trimmed(piece.substr(equals + 1)));
    }
    auto changed = withKeysSet(plan, scenario.settings);
    if (!changed)
        return std::unexpected(std::move(changed.error()));
    if (Errors errors = validatePlan(*changed); !errors.empty())
        return std::unexpected(std::move(errors));
    const std::vector<std::string> sentences = describeDifferences(plan, *changed);
    scenario.name = sentences.empty() || sentences.size() > 3 ? std::string(text) : joined(sentences, "; ");
    return scenario;
}

void setPrices(Plan &plan, const std::vector<Scenario::PoolPrices> &prices)
{
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools)
            for (const Scenario::PoolPrices &one : prices) {
                if (one.datacenter != datacenter.id || one.pool != pool.id)
                    continue;
                if (one.usdPerGpuHour > 0)
                    pool.usdPerGpuHour = one.usdPerGpuHour;
                if (one.usdOfDrives > 0 && pool.ssd)
                    pool.ssd->usd = one.usdOfDrives;
            }
}

/// GPUs are numbered in the order of the cluster: those behind the lost ones move up.
void renumberGpus(Plan &plan, int first, int count)
{
    for (Job &job : plan.jobs) {
        std::erase_if(job.pinnedGpus, [&](int gpu) { return gpu >= first && gpu < first + count; });
        for (int &gpu : job.pinnedGpus)
            gpu -= gpu >= first ? count : 0;
    }
}

Expected<void> lose(Plan &plan, const std::string &id)
{
    const int index = plan.cluster.indexOf(id);
    if (index < 0)
        return std::unexpected(Error {
            ErrorCode::UnknownName, "cluster.datacenters", "there is no datacenter " + id, "the id of one of them" });
    int before = 0;
    for (int d = 0; d < index; ++d)
        before += plan.cluster.datacenters[std::size_t(d)].gpus();
    renumberGpus(plan, before, plan.cluster.datacenters[std::size_t(index)].gpus());
    auto left = withoutDatacenter(plan.cluster, index);
    if (!left)
        return std::unexpected(std::move(left.error()));
    plan.cluster = std::move(*left);
    if (plan.cluster.gpus() == 0)
        return std::unexpected(Error { ErrorCode::BadValue, "cluster.datacenters",
            "without " + id + " there is nothing left to train on", "a scenario that leaves a datacenter with GPUs" });
    // Pins add up to the pipeline or are none at all.
    if (std::ranges::find(plan.placement.stages, id, &StagePin::datacenter) != plan.placement.stages.end())
        plan.placement.stages.clear();
    std::erase_if(plan.heterogeneity.assign, [&](const RankPin &pin) { return pin.datacenter == id; });
    return {};
}

} // namespace

ExpectedAll<Scenario> parseScenario(const Plan &plan, const Catalogue &catalogue, std::string_view text)
{
    constexpr std::string_view kWeight = "weight=";
    std::string_view world = trimmed(text);
    std::optional<double> weight;
    if (const std::size_t last = world.rfind(','); last != std::string_view::npos)
        if (const std::string_view tail = trimmed(world.substr(last + 1)); tail.starts_with(kWeight)) {
            double value = 0;
            const char *const end = tail.data() + tail.size();
            if (const auto [stop, error] = std::from_chars(tail.data() + kWeight.size(), end, value);
                error != std::errc() || stop != end || !(value > 0) || value > 1e6)
                return std::unexpected(Errors { { ErrorCode::BadValue, {},
                    shortened(printable(tail)) + " is no weight of a scenario", "a number above 0" } });
            weight = value;
            world = trimmed(world.substr(0, last));
        }
    const bool isNamed = world.starts_with("half:") || world.starts_with("lost:") || world == "slow"
        || priceChange(world) || world.find('=') == std::string_view::npos;
    auto scenario = isNamed ? namedScenario(plan, catalogue, world) : settingsScenario(plan, world);
    if (scenario && weight)
        scenario->weight = *weight;
    return scenario;
}

std::vector<NamedScenario> namedScenarios(const Plan &plan, const Catalogue &catalogue)
{
    std::vector<NamedScenario> named;
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const auto &[a, b] = plan.cluster.wanLinks[i].between;
        named.push_back({ "half:" + a + "-" + b, halfOf(plan, i) });
    }
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        if (plan.cluster.gpus() > datacenter.gpus())
            named.push_back(
                { "lost:" + datacenter.id, { .name = datacenter.label() + " lost", .lostDatacenter = datacenter.id } });
    for (const double percent : { kPriceChange, -kPriceChange })
        if (Scenario scenario = pricesTimes(plan, catalogue, percent);
            !scenario.settings.empty() || !scenario.prices.empty())
            named.push_back({ percent < 0 ? "prices-30%" : "prices+30%", std::move(scenario) });
    if (auto slow = slowWorld(plan))
        named.push_back({ "slow", *std::move(slow) });
    return named;
}

double timeFactorOf(const Scenario &scenario, const Metrics &metrics)
{
    const bool isKnown =
        scenario.isSlowEnd && metrics.iterationTime && *metrics.iterationTime > 0 && metrics.confidence.iterationHigh;
    return isKnown ? std::max(1.0, *metrics.confidence.iterationHigh / *metrics.iterationTime) : 1.0;
}

ExpectedAll<PlanPtr> inScenario(const PlanPtr &plan, const Scenario &scenario)
{
    if (scenario.settings.empty() && scenario.prices.empty() && scenario.lostDatacenter.empty())
        return plan;
    auto changed = scenario.settings.empty() ? ExpectedAll<Plan>(*plan) : withKeysSet(*plan, scenario.settings);
    if (!changed)
        return std::unexpected(std::move(changed.error()));
    setPrices(*changed, scenario.prices);
    if (!scenario.lostDatacenter.empty())
        if (auto lost = lose(*changed, scenario.lostDatacenter); !lost)
            return std::unexpected(Errors { std::move(lost.error()) });
    if (Errors errors = validatePlan(*changed); !errors.empty())
        return std::unexpected(std::move(errors));
    return std::make_shared<const Plan>(std::move(*changed));
}

} // namespace trainyard
