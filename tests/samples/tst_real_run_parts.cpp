// SPDX-License-Identifier: GPL-3.0-or-later
// What of the real run's steps the plan leaves out. A simulation of two stages under 1F1B that shares nothing with the
// core says what the plan says when it gets the plan's durations; with measured ones it tells the rest apart. The table
// of docs/real-run.md is printed and compared.
#include "core/base/median.h"
#include "tests/app/cli/program.h"
#include "tests/support/real_run.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kMicroBatches = 8;

/// Seconds. Stages of a replica send to each other over a link of their own, one message after the other each way;
/// replicas of a stage wait for each other at the end of a step.
struct TwoStages {
    int replicas = 1;
    std::function<double(int replica, int stage, bool isBackward)> operation;
    double wire = 0, latency = 0; // of a message
    double rest = 0; // of a stage behind its last backward
};

class OneForwardOneBackward {
public:
    explicit OneForwardOneBackward(TwoStages job)
        : m_job(std::move(job))
        , m_free(std::size_t(m_job.replicas))
        , m_link(std::size_t(m_job.replicas))
    {
    }

    /// When the first stage has done its step.
    double step()
    {
        for (int replica = 0; replica < m_job.replicas; ++replica)
            operations(replica);
        for (const std::size_t stage : { 0, 1 }) {
            double last = 0;
            for (const auto &free : m_free)
                last = std::max(last, free[stage]);
            for (auto &free : m_free)
                free[stage] = last + m_job.rest;
        }
        return m_free.front()[0];
    }

private:
    void operations(int replica)
    {
        auto &[first, second] = m_free[std::size_t(replica)];
        std::array<double, kMicroBatches> activation {}, gradient {};
        const auto forward = [&](int i) {
            first += m_job.operation(replica, 0, false);
            activation[std::size_t(i)] = sent(replica, 0, first);
        };
        forward(0);
        for (int i = 0; i < kMicroBatches; ++i) { // F1 B0 F2 B1 …, and F0 B0 F1 B1 … behind it
            if (i + 1 < kMicroBatches)
                forward(i + 1);
            second = std::max(second, activation[std::size_t(i)]) + m_job.operation(replica, 1, false);
            second += m_job.operation(replica, 1, true);
            gradient[std::size_t(i)] = sent(replica, 1, second);
            first = std::max(first, gradient[std::size_t(i)]) + m_job.operation(replica, 0, true);
        }
    }

    double sent(int replica, std::size_t way, double ready)
    {
        double &link = m_link[std::size_t(replica)][way];
        link = std::max(link, ready) + m_job.wire;
        return link + m_job.latency;
    }

    TwoStages m_job;
    std::vector<std::array<double, 2>> m_free, m_link; // [replica][stage], [replica][way]
};

/// Median time between the ends of steps.
double stepOf(const TwoStages &job, int steps = 400)
{
    OneForwardOneBackward simulation(job);
    std::vector<double> took;
    double last = simulation.step();
    for (int i = 0; i < steps; ++i) {
        const double end = simulation.step();
        took.push_back(end - last);
        last = end;
    }
    return medianOf(std::move(took));
}

/// Of the plan's timeline, by its stages and the first word of its spans' names.
using PlannedTimes = std::map<std::pair<int, std::string>, double>;
PlannedTimes plannedTimes(const Plan &plan)
{
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("plan.trainyard.json"));
    PlannedTimes times;
    if (!writePlan(plan, file.toStdString()))
        return times;
    const Answer answer = test::run({ "export", file, "--to", "chrome-trace" });
    const nlohmann::json trace = nlohmann::json::parse(answer.out, nullptr, false);
    for (const nlohmann::json &event : trace.value("traceEvents", nlohmann::json::array()))
        if (event.value("ph", "") == "X") {
            const std::string name = event["name"];
            times[{ event["pid"].get<int>() - 1, name.substr(0, name.find(' ')) }] = event["dur"].get<double>() * 1e-6;
        }
    return times;
}

/// Measured durations, seconds.
struct Measured {
    std::map<std::pair<int, std::string>, std::vector<double>> spans; // by rank and name
    std::vector<double> messages, reductions;
};

Measured measured(const Run &run)
{
    Measured found;
    for (const RankRecording &rank : run.recording->ranks)
        for (const RecordedStream &stream : rank.streams)
            for (std::size_t i = 0; stream.isGpu && i < stream.spans.size(); ++i)
                found.spans[{ rank.rank, run.recording->names[stream.spans.name[i]] }].push_back(
                    double(stream.spans.duration[i]) * 1e-9);
    for (const MatchedCollective &one : run.collectives)
        (run.recording->names[one.operation] == "send" ? found.messages : found.reductions)
            .push_back(double(one.leastDuration) * 1e-9);
    return found;
}

} // namespace

class TestRealRunParts : public QObject {
    Q_OBJECT

private slots:
    void theRestIsToldApart()
    {
        QStringList rows;
        for (const Setting &setting : settings()) {
            if (!setting.isOfTheJob())
                continue;
            const Plan plan = calibrated(planOf(setting));
            PlannedTimes times = plannedTimes(plan);
            QVERIFY(!times.empty());
            const double latency = setting.rtt / 2e3;
            const double planned = secondsOf(plan),
                         ofPlan = stepOf({ .operation =
                                               [&](int, int stage, bool isBackward) {
                                                   return times[{ stage, isBackward ? "backward" : "forward" }];
                                               },
                             .wire = times[{ 0, "WAN" }],
                             .latency = latency,
                             .rest = times[{ 0, "gradient" }] + times[{ 0, "optimizer" }] });
            QVERIFY2(std::abs(ofPlan / planned - 1) < 0.005, qPrintable(seconds(ofPlan) + u' ' + seconds(planned)));

            Measured own = measured(*setting.run);
            const auto of = [&](int rank, const char *name) -> std::vector<double> & {
                return own.spans[{ rank, name }];
            };
            const auto ofStage = [&](int stage, const char *name) {
                std::vector<double> both = of(2 * stage, name);
                both.insert(both.end(), of(2 * stage + 1, name).begin(), of(2 * stage + 1, name).end());
                return medianOf(std::move(both));
            };
            TwoStages job { .operation =
                                [&](int, int stage, bool isBackward) {
                                    return ofStage(stage, isBackward ? "backward" : "forward");
                                },
                .wire = medianOf(own.messages) - latency,
                .latency = latency,
                .rest = ofStage(0, "load batch") + ofStage(0, "gather gradients") + ofStage(0, "optimizer")
                    + medianOf(own.reductions) };
            const double ofMedians = stepOf(job, 3);
            std::mt19937 random(1);
            job.replicas = 2;
            job.operation = [&](int replica, int stage, bool isBackward) {
                const std::vector<double> &all = of(2 * stage + replica, isBackward ? "backward" : "forward");
                return all[random() % all.size()];
            };
            const double drawn = stepOf(job), step = setting.run->medianSeconds;
            rows.append(QStringLiteral("| %1 Mbit/s, %2 ms | %3 | %4 | %5 | %6 |")
                            .arg(setting.mbit)
                            .arg(setting.rtt)
                            .arg(seconds(planned), seconds(ofMedians), seconds(drawn), seconds(step)));
            qInfo("%s", qPrintable(rows.back()));
            // What no span tells is little: with all that was measured the step is what it was.
            QVERIFY2(std::abs(drawn / step - 1) < 0.02, qPrintable(rows.back()));
            QVERIFY(drawn > ofMedians);
        }
        for (const QString &row : rows)
            QVERIFY2(page().contains(row), qPrintable(QStringLiteral("docs/real-run.md should have ") + row));
    }
};

TRAINYARD_GUILESS_TEST(TestRealRunParts)
#include "tst_real_run_parts.moc"
