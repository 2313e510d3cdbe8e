// SPDX-License-Identifier: GPL-3.0-or-later
// docs/atlas-headline.md is made of answers of the program: every table of it is computed here and compared line by
// line. Where a table differs the test prints the one that would be right.
#include "core/base/number_text.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace trainyard;

namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

/// An activation takes C forwards on a node pair, 62.5 MB each, and cells have as many pipelines, rounded.
Keys ofRatio(const char *c)
{
    return { { "profile.activation_mb", std::to_string(62.5 * std::stod(c)) },
        { "wan.cell", std::to_string(std::lround(std::stod(c))) } };
}

/// As `trainyard-cli evaluate samples/atlas-headline.trainyard.json --set KEY=VALUE ...`.
EvaluationPtr evaluatedWith(const Keys &keys)
{
    Plan plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-headline.trainyard.json").value_or(Plan {});
    for (const auto &[key, value] : keys) {
        auto next = withKeySet(plan, key, value);
        if (!next)
            qFatal("%s", toString(next.error()[0]).c_str());
        plan = std::move(*next);
    }
    EvaluationWorkspace workspace;
    const auto evaluation =
        evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    return evaluation ? *evaluation : nullptr;
}

const Keys kSlow { { "schedule", "gpipe" }, { "wan.sharing", "spatial" }, { "wan.tcp_connections", "1" },
    { "bubble_fill.enabled", "false" } };
const Keys kMany { { "schedule", "gpipe" }, { "wan.sharing", "spatial" }, { "bubble_fill.enabled", "false" } };

double iterationWith(Keys keys, const Keys &more)
{
    keys.insert(keys.end(), more.begin(), more.end());
    return evaluatedWith(keys)->metrics.iterationTime.value();
}

/// T_spatial / T_temporal - 1.
double gainOfTurns(const char *schedule, double c, int microBatches, const char *rtt = "40")
{
    const Keys keys { { "schedule", schedule }, { "profile.activation_mb", std::to_string(62.5 * c) },
        { "workload.global_batch", std::to_string(32 * microBatches) }, { "cluster.wan_links[0].rtt_ms", rtt },
        { "wan.cell", std::to_string(std::max(1L, std::lround(c))) }, { "bubble_fill.enabled", "false" } };
    return iterationWith(keys, { { "wan.sharing", "spatial" } })
        / iterationWith(keys, { { "wan.sharing", "temporal" } })
        - 1;
}

constexpr int kSeeds = 9;

/// What the arrivals of nine seeds give: the median, and the range where it is told.
struct OverSeeds {
    std::vector<EvaluationPtr> of;

    explicit OverSeeds(const Keys &keys)
    {
        for (int seed = 1; seed <= kSeeds; ++seed) {
            Keys seeded = keys;
            seeded.emplace_back("bubble_fill.seed", std::to_string(seed));
            of.push_back(evaluatedWith(seeded));
        }
    }

    /// Sorted; those that have it.
    template <class Value> [[nodiscard]] std::vector<double> sorted(Value value) const
    {
        std::vector<double> values;
        for (const EvaluationPtr &evaluation : of)
            if (const std::optional<double> one = value(evaluation->metrics))
                values.push_back(*one);
        std::ranges::sort(values);
        return values;
    }
    template <class Value> [[nodiscard]] double median(Value value) const { return sorted(value).at(kSeeds / 2); }
    /// "4.2 (3.9 to 4.6)", or one value where all are said alike; a dash where no request is served.
    template <class Value, class Text> [[nodiscard]] std::string text(Value value, Text said) const
    {
        const std::vector<double> values = sorted(value);
        if (values.size() < kSeeds)
            return "–";
        const std::string least = said(values.front()), most = said(values.back());
        const std::string middle = said(values[kSeeds / 2]);
        return least == most ? middle : middle + " (" + least + " to " + most + ")";
    }
};

std::optional<double> inflation(const Metrics &m)
{
    return m.bubbleFill->ttftInflation;
}
std::optional<double> p50Seconds(const Metrics &m)
{
    return m.bubbleFill->ttftP50Ms ? std::optional(*m.bubbleFill->ttftP50Ms / 1e3) : std::nullopt;
}
std::optional<double> p99Seconds(const Metrics &m)
{
    return m.bubbleFill->ttftP99Ms ? std::optional(*m.bubbleFill->ttftP99Ms / 1e3) : std::nullopt;
}
std::optional<double> withPrefill(const Metrics &m)
{
    return m.gpuUtilizationWithFill;
}
std::optional<double> served(const Metrics &m)
{
    return double(m.bubbleFill->accepted) / double(m.bubbleFill->accepted + m.bubbleFill->rejected);
}

std::string times(double ratio)
{
    return plainText(ratio) + " ×";
}

/// | first | GPipe over one | over many | Atlas | faster | busy | with prefill | first token |
std::string speedRow(const std::string &first, const Keys &keys)
{
    const OverSeeds atlas(keys);
    const Metrics &m = atlas.of.front()->metrics;
    const double one = iterationWith(keys, kSlow), many = iterationWith(keys, kMany), own = m.iterationTime.value();
    return "| " + first + " | " + secondsText(one) + " | " + secondsText(many) + " | " + secondsText(own) + " | "
        + times(one / own) + " | " + percentText(m.gpuUtilization.value()) + " | "
        + percentText(atlas.median(withPrefill)) + " | " + atlas.text(inflation, times) + " |\n";
}

std::string speedHead(const std::string &first)
{
    return "| " + first
        + " | GPipe, one connection | GPipe, many | Atlas, many | faster than over one | GPUs busy | with prefill | "
          "first token |\n|---|---|---|---|---|---|---|---|\n";
}

std::string fillRow(const std::string &first, const Keys &keys)
{
    const OverSeeds seeds(keys);
    const auto seconds = [](double s) { return secondsText(s); };
    return "| " + first + " | " + std::to_string(seeds.of.front()->metrics.bubbleFill->groups) + " | "
        + percentText(seeds.median(served)) + " | " + percentText(seeds.median(withPrefill)) + " | "
        + seeds.text(inflation, times) + " | " + seeds.text(p99Seconds, seconds) + " |\n";
}

std::string fillHead(const std::string &first)
{
    return "| " + first
        + " | groups | prompts served | GPUs busy with prefill | first token, median | first token, 99 % "
          "|\n|---|---|---|---|---|---|\n";
}

QString page(const char *name)
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/") + QLatin1String(name));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

void comparePage(const char *name, const std::string &part)
{
    const QString text = QString::fromStdString(part);
    QVERIFY2(page(name).contains(text),
        qPrintable(QStringLiteral("docs/%1 should have\n%2").arg(QLatin1String(name), text)));
}

} // namespace

class TstHeadlinePage : public QObject {
    Q_OBJECT

private slots:
    void whatTheHeadlineIsMadeOf()
    {
        const double one = iterationWith({}, kSlow), many = iterationWith({}, kMany);
        const OverSeeds atlas { Keys() };
        const Metrics &m = atlas.of.front()->metrics;
        const double own = m.iterationTime.value();
        const auto seconds = [](double s) { return secondsText(s); };
        comparePage("atlas-headline.md",
            "GPipe over one connection per node pair takes " + secondsText(one) + ", over many " + secondsText(many)
                + ", Atlas " + secondsText(own) + ":\n" + plainText(one / own)
                + " times less, of which connections are " + plainText(one / many) + " and the schedule and turns "
                + plainText(many / own) + ".");
        comparePage("atlas-headline.md",
            "GPUs are " + percentText(*m.gpuUtilization) + " busy with training and "
                + percentText(atlas.median(withPrefill))
                + " with 1,000 prompts of 1,024 tokens per second beside it.\nHalf of these prompts wait "
                + atlas.text(inflation, times) + " as long for their first token as on a GPU of their own, "
                + atlas.text(p50Seconds, seconds) + "; one in a hundred waits " + atlas.text(p99Seconds, seconds)
                + " or longer.");
        comparePage("across-datacenters.md",
            "GPipe over one connection per node pair takes " + secondsText(one) + " per iteration and Atlas "
                + secondsText(own) + ", " + plainText(one / own) + " times less; GPUs\nare "
                + percentText(*m.gpuUtilization) + " busy with training, and " + percentText(atlas.median(withPrefill))
                + " with 1,000 prompts a second of 1,024 tokens beside it");
        const EvaluationPtr constant = evaluatedWith({ { "bubble_fill.arrivals", "constant" } });
        const Metrics &even = constant->metrics;
        comparePage("atlas-headline.md",
            "When they come evenly it is " + secondsText(*p50Seconds(even)) + " and " + secondsText(*p99Seconds(even))
                + ", settled after " + std::to_string(even.bubbleFill->iterations) + " iterations");
    }

    /// What turns on the WAN shorten the iteration by, T_spatial / T_temporal - 1, on the sample.
    void theTableOfTurns()
    {
        std::string table = "| `C` | `atlas`, M = 4 | M = 16 | M = 64 | `1f1b`, M = 4 | M = 16 | M = 64 "
                            "|\n|---|---|---|---|---|---|---|\n";
        for (const double c : { 1., 1.5, 2., 4., 6., 8., 12. }) {
            table += "| " + (c == 1.5 ? std::string("1.5") : std::to_string(int(c))) + " |";
            for (const char *schedule : { "atlas", "1f1b" }) {
                for (const int m : { 4, 16, 64 })
                    table += " " + percentText(gainOfTurns(schedule, c, m)) + " |";
            }
            table += "\n";
        }
        comparePage("across-datacenters.md", table);
    }

    /// What the page says beside it. A crossing is there s (1 - 1/cell) sooner: nothing for a cell of one, more with C;
    /// a pace that the link sets stays, so that of many micro-batches little is gained but where each is waited for.
    void turnsPayAsThePageSays()
    {
        for (const char *schedule : { "gpipe", "varuna", "atlas", "1f1b" }) {
            for (const int m : { 1, 4, 16 }) {
                for (const double c : { 0.25, 0.5, 1. })
                    QVERIFY2(std::abs(gainOfTurns(schedule, c, m)) < 1e-9, schedule);
            }
            for (const char *rtt : { "10", "160" }) {
                double last = 0;
                for (const double c : { 2., 4., 6., 8., 12. }) {
                    const double gain = gainOfTurns(schedule, c, 2, rtt);
                    QVERIFY2(gain > last,
                        qPrintable(QStringLiteral("%1, C %2, round trip %3")
                                       .arg(QLatin1String(schedule))
                                       .arg(c)
                                       .arg(QLatin1String(rtt))));
                    last = gain;
                }
            }
            const bool waitsForEach = std::string_view(schedule) == "1f1b";
            for (const double c : { 2., 4., 8. }) {
                QVERIFY2(waitsForEach == (gainOfTurns(schedule, c, 32) > gainOfTurns(schedule, c, 4)), schedule);
                QVERIFY2(waitsForEach == (gainOfTurns(schedule, c, 16) > gainOfTurns(schedule, c, 8)), schedule);
                QVERIFY2(gainOfTurns(schedule, c, 1, "300") < gainOfTurns(schedule, c, 1, "10"), schedule);
            }
        }
    }

    /// Greedy schedules have anomalies (Graham 1969): transfers that are there sooner may make the iteration longer.
    void reversalsOfGreedySchedulesAreFewAndSmall()
    {
        const Plan sample =
            readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-three-datacenters.trainyard.json").value_or(Plan {});
        std::mt19937 random(5);
        const auto between = [&](double low, double high) {
            return low + (high - low) * double(random() % 100000) / 1e5;
        };
        constexpr int kCases = 400;
        int longer = 0;
        double worst = 0;
        for (int i = 0; i < kCases; ++i) {
            Plan plan = sample;
            plan.schedule = i % 2 ? ScheduleKind::Atlas : ScheduleKind::Varuna;
            plan.profile->forwardMs = { between(500, 1500) };
            plan.profile->backwardMs = { between(1000, 3000) };
            plan.profile->recomputeMs = { between(0, 1200) };
            plan.profile->activationMb = between(600, 4000);
            plan.workload.globalBatch = 4 * (2 + int(random() % 23));
            for (WanLink &link : plan.cluster.wanLinks)
                link.rttMs = between(5, 900);
            const auto iteration = [&](WanSharing sharing) {
                plan.wan.sharing = sharing;
                EvaluationWorkspace workspace;
                return (*evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score))
                    ->metrics.iterationTime.value();
            };
            const double change = iteration(WanSharing::Temporal) / iteration(WanSharing::Spatial) - 1;
            longer += change > 1e-9;
            worst = std::max(worst, change);
        }
        QVERIFY(longer < kCases / 20);
        comparePage("across-datacenters.md",
            "of " + std::to_string(kCases) + " random plans over three datacenters " + std::to_string(longer)
                + " were, by " + percentText(worst) + " at most");
    }

    /// C is the time of an activation on a node pair over that of a forward: 62.5 MB take 100 ms at 5 Gbps.
    void theTableOverC()
    {
        std::string table = speedHead("C");
        for (const char *c : { "1", "2", "3", "4", "4.3", "5", "6", "8" })
            table += speedRow(c, ofRatio(c));
        comparePage("atlas-headline.md", table);
    }

    /// 32 replicas: 32 sequences are one micro-batch for each.
    void theTableOverMicroBatches()
    {
        std::string table = speedHead("M");
        for (const int m : { 2, 4, 8, 16, 32 })
            table += speedRow(std::to_string(m), { { "workload.global_batch", std::to_string(32 * m) } });
        comparePage("atlas-headline.md", table);
    }

    void theTableOverRoundTrips()
    {
        std::string table = speedHead("round trip");
        for (const char *rtt : { "10", "20", "30", "40", "60", "80" })
            table += speedRow(std::string(rtt) + " ms", { { "cluster.wan_links[0].rtt_ms", rtt } });
        comparePage("atlas-headline.md", table);
    }

    void theTableOverLoad()
    {
        std::string table = fillHead("prompts per second");
        for (const char *rate : { "100", "250", "500", "750", "1000", "1250", "1500" })
            table += fillRow(rate, { { "bubble_fill.requests_per_s", rate } });
        comparePage("atlas-headline.md", table);
    }

    /// A group is eight GPUs of one stage and one place in the cell, each of another cell: 32 / cell of them are alike.
    void theTableOfTheCliff()
    {
        std::string table = fillHead("C");
        for (const char *c : { "2", "2.5", "3", "3.5", "4.3", "4.49", "4.5", "5" })
            table += fillRow(c, ofRatio(c));
        comparePage("atlas-headline.md", table);
    }

    void theTableOfWaysBack()
    {
        const Keys five = ofRatio("5");
        const auto with = [&](const char *key, const char *value) {
            Keys keys = five;
            keys.emplace_back(key, value);
            return fillRow("`--set " + std::string(key) + "=" + value + "`", keys);
        };
        comparePage("atlas-headline.md",
            fillHead("at C = 5") + fillRow("as it is", five) + with("wan.cell", "4")
                + with("bubble_fill.chaining", "true") + with("bubble_fill.stages", "4"));
    }
};

TRAINYARD_APPLESS_TEST(TstHeadlinePage)
#include "tst_headline_page.moc"
