// SPDX-License-Identifier: GPL-3.0-or-later
// The samples that have every system on: each is at work, and every switch and key does something there or says why
// it does not.
#include "core/evaluation/advice/alternatives.h"
#include "core/facts/plan/plan_io.h"
#include "tests/core/evaluation/evaluate/pairs/job_checks.h"
#include "tests/core/evaluation/evaluate/pairs/prefill_checks.h"
#include "tests/core/evaluation/evaluate/pairs/systems.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include "core/base/words.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/key_list.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// What an evaluation says in figures, names and sentences apart.
std::vector<double> figuresOf(const Evaluation &e)
{
    const Metrics &m = e.metrics;
    std::vector<double> figures { double(m.gpusUsed), double(m.spans), m.wanBytesPerIteration, double(e.feasible()) };
    for (const Metric *value : { &m.iterationTime, &m.mfu, &m.hfu, &m.gpuUtilization, &m.gpuUtilizationWithFill,
             &m.bubbleFraction, &m.cost.usdPerIteration, &m.cost.usdTotal, &m.cost.daysTotal })
        figures.push_back(value->value_or(-1));
    if (m.breakdown)
        for (double Breakdown::*part : kBreakdownParts)
            figures.push_back((*m.breakdown).*part);
    for (const StageMemory &stage : m.memory ? m.memory->perStage : std::vector<StageMemory> {})
        figures.insert(figures.end(),
            { double(stage.device), double(stage.activations), double(stage.offloaded), double(stage.capacity) });
    for (const DeviceMetrics &device : m.devices)
        figures.insert(figures.end(), { device.time, device.stateShare, double(device.device) });
    for (const WanLinkUse &use : m.wanLinks)
        figures.insert(figures.end(), { use.bytes[0], use.bytes[1], double(use.tcpConnections), use.nodePairGbps });
    if (m.bubbleFill)
        figures.insert(figures.end(),
            { double(m.bubbleFill->accepted), double(m.bubbleFill->rejected), double(m.bubbleFill->groups),
                m.bubbleFill->ttftP50Ms.value_or(-1), m.bubbleFill->ttftP99Ms.value_or(-1),
                m.bubbleFill->usdPerHour.value_or(-1), double(m.bubbleFill->memoryPerGpu) });
    if (m.offload)
        figures.insert(figures.end(), { m.offload->bytesPerGpu, m.offload->stall, m.offload->requiredWriteGBps });
    if (m.experts)
        figures.insert(figures.end(),
            { m.experts->wireBytes, m.experts->layerMs, m.experts->exposedMs, m.experts->skew,
                m.experts->droppedShare });
    if (m.jobs) {
        figures.insert(figures.end(), { m.jobs->makespan.value_or(-1), double(m.jobs->hostPeak) });
        for (const JobResult &job : m.jobs->perJob)
            figures.insert(figures.end(), { job.start.value_or(-1), job.end.value_or(-1), job.bytesLoaded });
    }
    return figures;
}

class Looker {
public:
    explicit Looker(const Plan &plan)
        : m_now(evaluated(plan))
    {
    }

    [[nodiscard]] const Evaluation *now() const { return m_now ? &*m_now : nullptr; }

    /// The other plan has other figures, or what is in its way or the reason that nothing changes is said of the key.
    bool isLive(const PlanPtr &other, const std::string &key = {})
    {
        const auto e = trainyard::run(other, Depth::Score, { builtinCatalogue(), m_workspace });
        if (!e)
            return std::ranges::all_of(e.error(), [](const Error &error) {
                return error.code != ErrorCode::Internal && !error.where.empty() && !error.what.empty();
            });
        if (figuresOf(**e) != figuresOf(*m_now))
            return true;
        return std::ranges::any_of((*e)->problems, [&](const Problem &problem) {
            const auto isSame = [&](const Problem &known) { return known.text == problem.text; };
            return !problem.where.empty() && (problem.where == key || std::ranges::none_of(m_now->problems, isSame));
        });
    }

private:
    EvaluationPtr evaluated(const Plan &plan)
    {
        const auto e =
            trainyard::run(std::make_shared<const Plan>(plan), Depth::Score, { builtinCatalogue(), m_workspace });
        return e ? *e : nullptr;
    }

    EvaluationWorkspace m_workspace;
    EvaluationPtr m_now;
};

/// Other values of a key that is in the file or could be: of a number some around it, of a choice all.
std::vector<std::string> valuesOf(const Plan &plan, const KeyRow &row)
{
    if (row.kind == KeyKind::Flag)
        return { "true", "false" };
    if (row.kind == KeyKind::Choice)
        return row.choices;
    const KeyValue now = row.read ? row.value(plan) : KeyValue();
    std::vector<std::string> values;
    for (const double value :
        { now.value_or(2) * 2, now.value_or(2) / 2, now.value_or(0) + 1, now.value_or(2) - 1, 0.5, 2.0, 4.0, 1000.0 })
        if (value != now && value >= row.key.min && value <= row.key.max
            && (row.kind == KeyKind::Number || value == std::floor(value)))
            values.push_back(formatted("%.10g", value));
    return values;
}

} // namespace

class TestAllSystems : public QObject {
    Q_OBJECT

private slots:
    void everySystemIsAtWork()
    {
        Findings findings;
        EvaluationWorkspace workspace;
        const auto look = [&](const Plan &plan) {
            return run(std::make_shared<const Plan>(plan), Depth::Spans, { builtinCatalogue(), workspace });
        };
        for (const char *name : { "all-systems-three-datacenters", "all-systems-jobs" }) {
            Plan plan = samplePlan(name);
            const auto with = look(plan);
            QVERIFY(with && (*with)->feasible());
            plan.bubbleFill.enabled = false;
            const auto without = look(plan);
            QVERIFY(without);
            checkNoDelay(findings, 0, **with, **without);
            const bool areJobs = hasJobs(plan);
            for (const System system : kSystems)
                if ((system == System::Jobs) <= areJobs && !(system == System::Atlas && areJobs))
                    QVERIFY2(isAtWork(system, **with), toString(system));
            if (areJobs) {
                checkJobs(findings, 1, **with);
                continue;
            }
            checkGpus(findings, 2, **with);
            checkWan(findings, 2, **with);
            checkOffload(findings, 2, **with);
            checkExperts(findings, 2, **with);
        }
        QVERIFY2(findings.text().empty(), findings.text().c_str());
    }

    void everySwitchDoesSomethingOrSaysWhyNot_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("one model") << QStringLiteral("all-systems-three-datacenters");
        QTest::newRow("jobs") << QStringLiteral("all-systems-jobs");
    }
    void everySwitchDoesSomethingOrSaysWhyNot()
    {
        QFETCH(QString, name);
        const Plan plan = samplePlan(name.toUtf8().constData());
        Looker looker(plan);
        QVERIFY(looker.now());
        std::map<std::string, std::pair<int, int>> groups; // live, blocked with a reason
        for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue())) {
            auto &[live, blocked] = groups[a.group];
            QVERIFY2(a.plan || !a.blockedBecause.empty(), a.id.c_str());
            blocked += !a.plan;
            if (a.plan && !a.isCurrent && live == 0) // the first that does something tells
                live += looker.isLive(a.plan);
        }
        QVERIFY(groups.size() >= (hasJobs(plan) ? 8u : 40u));
        std::string dead;
        for (const auto &[group, counts] : groups)
            if (counts.first == 0 && counts.second == 0)
                dead += group + " ";
        QVERIFY2(dead.empty(), dead.c_str());
    }

    void everyKeyDoesSomethingOrSaysWhyNot()
    {
        const Plan plan = samplePlan("all-systems-three-datacenters");
        Looker looker(plan);
        std::string dead;
        int keys = 0;
        for (const KeyRow &row : planKeys()) {
            const std::string section = row.path.substr(0, row.path.find('.'));
            static const std::set<std::string> kSections { "parallelism", "schedule", "memory", "wan", "moe",
                "heterogeneity", "bubble_fill" };
            const bool hasValue = row.kind == KeyKind::Number || row.kind == KeyKind::Whole || row.kind == KeyKind::Flag
                || row.kind == KeyKind::Choice;
            if (!kSections.contains(section) || !hasValue || row.path.find("[]") != std::string::npos
                || !row.applies(plan))
                continue;
            ++keys;
            const std::vector<std::string> values = valuesOf(plan, row);
            const bool isLive = std::ranges::any_of(values, [&](const std::string &value) {
                const auto other = withKeySet(plan, row.path, value);
                return other && !(*other == plan) && looker.isLive(std::make_shared<const Plan>(*other), row.path);
            });
            if (!isLive)
                dead += row.path + " ";
        }
        QVERIFY(keys >= 60);
        QVERIFY2(dead.empty(), dead.c_str());
    }
};

TRAINYARD_APPLESS_TEST(TestAllSystems)
#include "tst_all_systems.moc"
