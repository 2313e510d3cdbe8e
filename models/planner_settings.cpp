// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/planner_settings.h"

#include "core/facts/plan/key_list.h"

#include <QSettings>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

QString keyOf(const char *name)
{
    return QStringLiteral("planner/") + QLatin1String(name);
}

std::optional<double> above(const QSettings &settings, const char *name, double least)
{
    bool isNumber = false;
    const double number = settings.value(keyOf(name)).toDouble(&isNumber);
    return isNumber && std::isfinite(number) && number >= least ? std::optional(number) : std::nullopt;
}

std::set<std::string> storedTexts(const QSettings &settings, const char *name)
{
    std::set<std::string> result;
    for (const QString &text : settings.value(keyOf(name)).toStringList())
        result.insert(text.toStdString());
    return result;
}

QVariant listed(const std::set<std::string> &texts)
{
    QStringList list;
    for (const std::string &text : texts)
        list << QString::fromStdString(text);
    return list;
}

template <class Number> QVariant perhaps(const std::optional<Number> &number)
{
    return number ? QVariant(double(*number)) : QVariant();
}

} // namespace

SearchOptions searchOptions(const PlannerSettings &settings, const Plan &plan, const std::vector<NamedScenario> &known)
{
    SearchOptions options;
    options.objective = settings.objective;
    options.constraints = { .mostUsdPerHour = settings.mostUsdPerHour,
        .mostGpus = settings.mostGpus,
        .leastTokensPerSecond = settings.leastTokensPerSecond,
        .mostDays = settings.mostDays,
        .memoryMargin = settings.memoryMargin };
    for (const Datacenter &place : plan.cluster.datacenters)
        if (!settings.avoidedDatacenters.contains(place.id))
            options.constraints.datacenters.push_back(place.id);
    if (options.constraints.datacenters.size() == plan.cluster.datacenters.size())
        options.constraints.datacenters.clear(); // all
    for (const NamedScenario &named : known)
        if (settings.scenarios.contains(named.text))
            options.scenarios.push_back(named.scenario);
    // Another world may need what idles in this one, and jobs stay as they are.
    options.keepsIdle = settings.keepsIdle || !options.scenarios.empty() || hasJobs(plan);
    options.robustness = settings.robustness;
    options.fixed.assign(settings.pins.begin(), settings.pins.end());
    options.mayTrainOtherwise = settings.mayTrainOtherwise;
    options.seconds = settings.seconds;
    options.seed = settings.seed;
    return options;
}

PlannerSettings withoutLimits(PlannerSettings settings)
{
    settings.mostUsdPerHour.reset();
    settings.mostGpus.reset();
    settings.leastTokensPerSecond.reset();
    settings.mostDays.reset();
    return settings;
}

PlannerSettings rememberedPlannerSettings()
{
    const QSettings stored;
    PlannerSettings settings;
    settings.objective = Objective(
        std::clamp(stored.value(keyOf("objective")).toInt(), int(Objective::Throughput), int(Objective::Gpus)));
    if (const auto margin = above(stored, "memoryMargin", 0); margin && *margin < 1)
        settings.memoryMargin = margin;
    settings.avoidedDatacenters = storedTexts(stored, "avoidedDatacenters");
    settings.scenarios = storedTexts(stored, "scenarios");
    settings.robustness =
        stored.value(keyOf("robustness")).toInt() == 1 ? Robustness::Expectation : Robustness::WorstCase;
    const std::set<std::string> pins = storedTexts(stored, "pins");
    for (const KeyRow &row : planKeys()) // no other key can be fixed
        if (pins.contains(row.path))
            settings.pins.insert(row.path);
    settings.mayTrainOtherwise = stored.value(keyOf("mayTrainOtherwise")).toBool();
    settings.keepsIdle = stored.value(keyOf("keepsIdle")).toBool();
    if (stored.contains(keyOf("seconds")))
        settings.seconds = above(stored, "seconds", 1e-3);
    if (const auto seed = above(stored, "seed", 0); seed && *seed <= kMostSeed)
        settings.seed = std::uint64_t(*seed);
    return settings;
}

void remember(const PlannerSettings &settings)
{
    QSettings stored;
    stored.setValue(keyOf("objective"), int(settings.objective));
    stored.setValue(keyOf("memoryMargin"), perhaps(settings.memoryMargin));
    stored.setValue(keyOf("avoidedDatacenters"), listed(settings.avoidedDatacenters));
    stored.setValue(keyOf("scenarios"), listed(settings.scenarios));
    stored.setValue(keyOf("robustness"), int(settings.robustness));
    stored.setValue(keyOf("pins"), listed(settings.pins));
    stored.setValue(keyOf("mayTrainOtherwise"), settings.mayTrainOtherwise);
    stored.setValue(keyOf("keepsIdle"), settings.keepsIdle);
    stored.setValue(keyOf("seconds"), settings.seconds ? *settings.seconds : 0.0);
    stored.setValue(keyOf("seed"), double(settings.seed));
}

} // namespace trainyard
