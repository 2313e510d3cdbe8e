// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/csv_text.h"
#include "core/evaluation/report/chrome_trace.h"
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/report/timeline_csv.h"
#include "tests/core/evaluation/report/sample_evaluation.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace trainyard;
using nlohmann::json;

namespace {

json trace(const Evaluation &evaluation)
{
    std::ostringstream out;
    writeChromeTrace(evaluation, out);
    return json::parse(out.str());
}

std::vector<json> events(const json &file, const std::string &phase)
{
    std::vector<json> found;
    for (const json &event : file["traceEvents"]) {
        if (event["ph"] == phase)
            found.push_back(event);
    }
    return found;
}

std::pair<int, int> place(const json &event)
{
    return { event["pid"].get<int>(), event["tid"].get<int>() };
}

} // namespace

class TstExports : public QObject {
    Q_OBJECT

private slots:
    void everySpanIsOneCompleteEventOfItsExactLength()
    {
        const auto evaluation = test::sampleEvaluation();
        const std::vector<json> spans = events(trace(*evaluation), "X");
        QCOMPARE(spans.size(), evaluation->timeline.spanCount());
        // 2001 ns are 2.001 µs: the nanosecond survives.
        QCOMPARE(spans[1]["dur"].get<double>(), 2.001);
        QCOMPARE(spans[1]["ts"].get<double>(), 5.0);
        QCOMPARE(spans[1]["args"]["micro_batch"].get<int>(), 0);
        QCOMPARE(spans[3]["cat"].get<std::string>(), std::string("WAN transfer"));
    }

    void aFieldIsNoFormulaOfASpreadsheet()
    {
        for (const char *text : { "=1+1", "+1", "-1", "@sum", "\tx", "\rx" })
            QVERIFY2(csvField(text).starts_with("'") || csvField(text).starts_with("\"'"), text);
        QCOMPARE(csvField("=a,\"b\""), std::string("\"'=a,\"\"b\"\"\""));
        for (const char *text : { "", "virginia", "a=b", "1-2" })
            QCOMPARE(csvField(text), std::string(text));
    }

    void everyDatacenterIsAProcessAndEveryTrackAThread()
    {
        const json file = trace(*test::sampleEvaluation());
        std::map<int, std::string> processes;
        std::set<std::pair<int, int>> threads;
        for (const json &event : events(file, "M")) {
            if (event["name"] == "process_name")
                processes[event["pid"].get<int>()] = event["args"]["name"].get<std::string>();
            if (event["name"] == "thread_name")
                threads.insert(place(event));
        }
        QCOMPARE(processes.size(), std::size_t(2));
        QVERIFY(processes[1].starts_with("Oslo"));
        QVERIFY(processes[2].starts_with("bergen"));
        QCOMPARE(threads.size(), std::size_t(3));
        for (const json &event : events(file, "X"))
            QVERIFY(threads.contains(place(event)));
    }

    void arrowsJoinATransferToItsSenderAndItsReceiver()
    {
        const json file = trace(*test::sampleEvaluation());
        const auto leave = events(file, "s"), arrive = events(file, "f");
        QCOMPARE(leave.size(), std::size_t(2));
        QCOMPARE(arrive.size(), std::size_t(2));
        for (std::size_t i = 0; i < leave.size(); ++i) {
            QCOMPARE(leave[i]["id"].get<int>(), arrive[i]["id"].get<int>());
            QVERIFY(leave[i]["ts"].get<double>() < arrive[i]["ts"].get<double>());
        }
    }

    void aTimelineOfNothingIsStillATrace()
    {
        auto evaluation = test::sampleEvaluation();
        evaluation->timeline = {};
        QVERIFY(trace(*evaluation)["traceEvents"].empty());
    }

    void theTableHasOneLineASpan()
    {
        std::ostringstream out;
        writeTimelineCsv(*test::sampleEvaluation(), out);
        const QStringList lines = QString::fromStdString(out.str()).split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 5);
        QCOMPARE(lines[1], QStringLiteral("Oslo,0,1,0,,compute,forward,0,0,0,1000"));
        QCOMPARE(lines[4], QStringLiteral("Oslo,0,1,0,1,wan,WAN transfer,0,0,1000,2000"));
    }
};

TRAINYARD_APPLESS_TEST(TstExports)
#include "tst_exports.moc"
