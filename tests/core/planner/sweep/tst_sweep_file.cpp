// SPDX-License-Identifier: GPL-3.0-or-later
// The file of a sweep: whole at every byte at which it may be cut, and gone on with by its own sweep alone.
#include "core/base/csv_text.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/run_sweep.h"
#include "core/planner/sweep/sweep_table.h"
#include "tests/support/test_program.h"

#include "tests/support/plans.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace trainyard;

namespace {

SweepSpec smallSweep()
{
    return { std::make_shared<const Plan>(*parsePlan(formatPlan(test::oneSite(4)), "plan")),
        { *parseVary("parallelism.tensor=1,2,4,8"), *parseVary("parallelism.pipeline=1,2,3,4"),
            *parseVary("memory.recompute=none,full"), *parseVary("workload.model=llama-3-8b,nobody,gpt-3-1.3b") } };
}

} // namespace

class TstSweepFile : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void theHeadGivesTheSweepBack()
    {
        SweepSpec spec = smallSweep();
        spec.random = 20;
        spec.seed = 9;
        for (const SweepFormat format : { SweepFormat::Csv, SweepFormat::JsonLines }) {
            const std::string head = sweepHead(spec, format);
            const std::string line = head.substr(0, head.find('\n'));
            QVERIFY(isSweepHead(line));
            const auto back = parseSweepHead(line, "x");
            QVERIFY2(back.has_value(), back ? "" : toString(back.error().front()).c_str());
            QCOMPARE(back->fingerprint(), spec.fingerprint());
            QVERIFY(back->vary == spec.vary);
            QVERIFY(*back->plan == *spec.plan);
            for (std::uint64_t row = 0; row < spec.rows(); ++row)
                QCOMPARE(back->values(row), spec.values(row));
        }
    }

    /// The plan may lie elsewhere than the rows: its files are found from there.
    void aFileThatThePlanNamesIsFoundFromTheRows()
    {
        QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("plans")));
        QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("rows")));
        const std::string plans = m_folder->filePath(QStringLiteral("plans")).toStdString(),
                          rows = m_folder->filePath(QStringLiteral("rows")).toStdString();
        SweepSpec spec = smallSweep();
        Plan plan = *spec.plan;
        plan.workload.model = "config.json";
        plan.baseDir = plans;
        spec.plan = std::make_shared<const Plan>(plan);
        spec.vary.pop_back();
        QCOMPARE(sweepInputs(smallSweep()).size(), 0u);
        spec.inputs = sweepInputs(spec);
        QCOMPARE(spec.inputs, (std::vector<SweepInput> { { "config.json", "missing" } }));
        QFile file(m_folder->filePath(QStringLiteral("plans/config.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{}");
        file.close();
        spec.inputs = sweepInputs(spec);
        QCOMPARE(spec.inputs.front().fingerprint.size(), 32u);
        spec.folder = "../plans";
        const std::string head = sweepHead(spec, SweepFormat::Csv);
        const auto back = parseSweepHead(head.substr(0, head.find('\n')), "x", rows);
        QVERIFY(back.has_value());
        QCOMPARE(back->plan->baseDir, plans);
        QCOMPARE(back->inputs, spec.inputs);
        QCOMPARE(back->program, sweepProgram());
        QCOMPARE(sweepInputs(*back), spec.inputs);
        QCOMPARE(back->fingerprint(), spec.fingerprint());
    }

    void whatIsNoHeadIsTold()
    {
        for (const char *line : { "", "row,state", "# trainyard sweep", "# trainyard sweep {}",
                 R"({"format":"trainyard.sweep","version":2})", R"({"format":"trainyard.sweep","version":1})",
                 R"({"format":"trainyard.sweep","version":1,"random":0,"seed":1,"vary":[1],"plan":{}})",
                 R"({"format":"trainyard.sweep","version":1,"random":0,"seed":1,"vary":[],"inputs":[1],"plan":{}})",
                 R"({"format":"trainyard.sweep","version":1,"random":0,"seed":1,"vary":[],"plan":{}})" }) {
            const auto parsed = parseSweepHead(line, "rows.csv");
            QVERIFY2(!parsed, line);
            QVERIFY2(toString(parsed.error().front()).starts_with("rows.csv"), line);
        }
    }

    void aRowSaysWhatItsPlanIs()
    {
        const SweepSpec spec = smallSweep();
        SweepRows rows(spec, builtinCatalogue());
        EvaluationWorkspace workspace;
        for (const std::uint64_t number : { 1u, 30u, 60u, 95u }) {
            const auto row = rows.row(number);
            const auto plan = rows.plan(number);
            const auto evaluated = run(*plan, Depth::Score, { builtinCatalogue(), workspace });
            if (!evaluated) {
                QCOMPARE(row->state, std::string("refused"));
                QVERIFY(row->reason.find("nobody") != std::string::npos);
                continue;
            }
            const Metrics &metrics = (*evaluated)->metrics;
            QCOMPARE(row->state, std::string((*evaluated)->feasible() ? "feasible" : "infeasible"));
            QCOMPARE(row->reason.empty(), (*evaluated)->feasible());
            QCOMPARE(row->metrics[0].first, std::string("iteration_time_s"));
            QVERIFY(row->metrics[0].second == metrics.iterationTime);
            QVERIFY(row->metrics[4].second == metrics.mfu);
        }
    }

    void linesReadBackAsTheRow()
    {
        const SweepSpec spec = smallSweep();
        SweepRows rows(spec, builtinCatalogue());
        for (std::uint64_t number = 0; number < spec.rows(); number += 7) {
            SweepRow row = *rows.row(number);
            row.reason += row.state == "refused" ? ", said \"so\"" : "";
            std::string csv, json;
            SweepLines(spec, SweepFormat::Csv).append(row, csv);
            SweepLines(spec, SweepFormat::JsonLines).append(row, json);
            QVERIFY(isSweepRow(std::string_view(csv).substr(0, csv.size() - 1), number, SweepFormat::Csv));
            QVERIFY(isSweepRow(std::string_view(json).substr(0, json.size() - 1), number, SweepFormat::JsonLines));
            const auto fields = csvFields(std::string_view(csv).substr(0, csv.size() - 1));
            const auto object = nlohmann::json::parse(json);
            QCOMPARE(fields->at(1), row.values[0]);
            QCOMPARE(object["workload.model"].get<std::string>(), row.values[3]);
            QCOMPARE(object["parallelism.tensor"].get<int>(), std::stoi(row.values[0]));
            QCOMPARE(fields->at(fields->size() - 2), row.reason);
            for (std::size_t i = 0; i < row.metrics.size(); ++i) {
                const auto &[name, value] = row.metrics[i];
                QCOMPARE(fields->at(6 + i).empty(), !value);
                QCOMPARE(object[name].is_null(), !value);
                if (value) { // to the last bit
                    QCOMPARE(std::stod(fields->at(6 + i)), *value);
                    QCOMPARE(object[name].get<double>(), *value);
                }
            }
        }
    }

    void oneThreadOrManyWriteTheSameBytes()
    {
        for (const SweepFormat format : { SweepFormat::Csv, SweepFormat::JsonLines }) {
            const QByteArray one = swept(format, 1), many = swept(format, 5);
            QCOMPARE(one.count('\n'), format == SweepFormat::Csv ? 98 : 97); // 96 rows
            QCOMPARE(many, one);
        }
    }

    void aFileCutAnywhereIsGoneOnWith()
    {
        for (const SweepFormat format : { SweepFormat::Csv, SweepFormat::JsonLines }) {
            const QByteArray whole = swept(format, 2);
            const auto head = qsizetype(sweepHead(smallSweep(), format).size());
            for (const qsizetype cut : { qsizetype(0), qsizetype(10), head - 1, head, head + 1, head + 40,
                     whole.size() / 2, whole.size() - 1, whole.size() }) {
                write(whole.left(cut));
                QCOMPARE(swept(format, 2, SweepFile::Start::Resume), whole);
            }
        }
    }

    void rowsThatAreThereAreNotDoneAgain()
    {
        const QByteArray whole = swept(SweepFormat::Csv, 1);
        write(whole.left(whole.size() / 2));
        const qsizetype rowsThere = whole.left(whole.size() / 2).count('\n') - 2;
        const SweepSpec spec = smallSweep();
        auto file = SweepFile::open(path(), spec, SweepFormat::Csv, SweepFile::Start::Resume);
        QCOMPARE(qsizetype(file->rowsThere()), rowsThere);
        const auto end = runSweep(spec, SweepFormat::Csv, builtinCatalogue(), *file, 1, {});
        QCOMPARE(qsizetype(end->counts.all()), 96 - rowsThere);
    }

    void zerosThatACrashLeftAreDropped()
    {
        const QByteArray whole = swept(SweepFormat::Csv, 1);
        write(whole.left(whole.size() / 2) + QByteArray(500, '\0') + '\n');
        QCOMPARE(swept(SweepFormat::Csv, 1, SweepFile::Start::Resume), whole);
    }

    /// Whatever was changed of it, if only the state: the file stays as it is, and the row is named.
    void aRowThatWasChangedIsNoticed()
    {
        for (const SweepFormat format : { SweepFormat::Csv, SweepFormat::JsonLines }) {
            const QByteArray whole = swept(format, 1);
            const int before = format == SweepFormat::Csv ? 2 : 1; // lines of the head
            qsizetype begin = 0;
            for (int line = 0; line < before + 40; ++line)
                begin = whole.indexOf('\n', begin) + 1;
            const qsizetype end = whole.indexOf('\n', begin);
            for (qsizetype at = begin; at < end; at += 7) {
                QByteArray changed = whole;
                changed[at] = whole[at] == '1' ? '2' : '1';
                write(changed);
                const auto file = SweepFile::open(path(), smallSweep(), format, SweepFile::Start::Resume);
                QVERIFY2(!file, changed.mid(begin, end - begin).constData());
                QVERIFY2(file.error().what.find("row 40 ") != std::string::npos, toString(file.error()).c_str());
                QVERIFY(read() == changed);
            }
            QByteArray without = whole;
            without.remove(begin, end + 1 - begin);
            write(without);
            QVERIFY(!SweepFile::open(path(), smallSweep(), format, SweepFile::Start::Resume));
            write(whole.left(begin)); // as the refusal says
            QCOMPARE(swept(format, 1, SweepFile::Start::Resume), whole);
            QFile::remove(QString::fromStdString(path()));
        }
    }

    void anotherSweepIsNotGoneOnWith()
    {
        const QByteArray whole = swept(SweepFormat::Csv, 1);
        const auto refusal = [&](const SweepSpec &spec, SweepFormat format = SweepFormat::Csv) {
            const auto file = SweepFile::open(path(), spec, format, SweepFile::Start::Resume);
            return file ? std::string() : toString(file.error());
        };
        SweepSpec spec = smallSweep();
        spec.vary[1].values.push_back("6");
        QVERIFY(refusal(spec).find("other values of parallelism.pipeline") != std::string::npos);
        spec = smallSweep();
        spec.vary[0].key = "parallelism.context";
        QVERIFY(refusal(spec).find("parallelism.context") != std::string::npos);
        spec = smallSweep();
        spec.random = 5;
        QVERIFY(refusal(spec).find("every combination") != std::string::npos);
        spec = smallSweep();
        spec.plan = std::make_shared<const Plan>(test::oneSite(5));
        QVERIFY(refusal(spec).find("plan") != std::string::npos);
        QVERIFY(!refusal(smallSweep(), SweepFormat::JsonLines).empty());
        write("a,b\n1,2\n");
        QVERIFY(refusal(smallSweep()).find("no file of a sweep") != std::string::npos);
        QCOMPARE(read(), QByteArray("a,b\n1,2\n"));
        write(whole);
        QCOMPARE(refusal(smallSweep()), std::string());
    }

    void aTableIsTheRowsOfTheFile()
    {
        SweepRows rows(smallSweep(), builtinCatalogue());
        for (const SweepFormat format : { SweepFormat::Csv, SweepFormat::JsonLines }) {
            const QByteArray whole = swept(format, 1);
            QVERIFY(isSweepFile(path()));
            const auto table = readSweepTable(path());
            QVERIFY2(table.has_value(), table ? "" : toString(table.error().front()).c_str());
            QVERIFY((*table)->isDone());
            QCOMPARE((*table)->metrics, sweepMetricNames());
            for (std::size_t i = 0; i < (*table)->rows(); ++i) {
                const SweepRow row = *rows.row(i);
                QCOMPARE((*table)->reason(i), row.reason);
                QCOMPARE((*table)->states[i] == SweepState::Feasible, row.state == "feasible");
                for (std::size_t m = 0; m < row.metrics.size(); ++m) {
                    const double value = (*table)->values[m][i];
                    QVERIFY(row.metrics[m].second ? value == *row.metrics[m].second : std::isnan(value));
                }
                const auto asked = rows.plan(i), known = (*table)->plan(i);
                QCOMPARE(asked.has_value(), known.has_value());
                QCOMPARE(formatPlan(**asked), formatPlan(**known));
            }
            write(whole.left(whole.size() / 2)); // one that goes on, or was killed
            const auto half = readSweepTable(path());
            QVERIFY(half && !(*half)->isDone() && (*half)->rows() > 20);
            QFile::remove(QString::fromStdString(path()));
        }
    }

    void whatIsNoTableIsTold()
    {
        const auto fault = [&](const QByteArray &bytes) {
            write(bytes);
            const auto table = readSweepTable(path());
            return table ? std::string() : toString(table.error().front());
        };
        const QByteArray whole = swept(SweepFormat::Csv, 1);
        QVERIFY(fault("a,b\n1,2\n").find(":1") != std::string::npos);
        QVERIFY(!fault("").empty());
        QByteArray other = whole;
        other.replace("\n7,", "\n8,");
        QVERIFY2(fault(other).find(":10: it is row 8, not 7") != std::string::npos, fault(other).c_str());
        other = whole;
        other.replace(",infeasible,", ",perhaps,");
        QVERIFY(fault(other).find("perhaps") != std::string::npos);
        QVERIFY(fault(whole + whole.mid(whole.indexOf("\n95,") + 1)).find("more than 96 rows") != std::string::npos);
        QVERIFY(!readSweepTable("/nowhere").has_value());
        QVERIFY(!readSweepTable(m_folder->path().toStdString()).has_value());
    }

    void aSweepThatIsNotDoneIsNotReplaced()
    {
        const QByteArray whole = swept(SweepFormat::Csv, 1);
        QCOMPARE(swept(SweepFormat::Csv, 1, SweepFile::Start::New), whole); // one that is done is
        const QByteArray half = whole.left(whole.size() / 2);
        write(half);
        const auto file = SweepFile::open(path(), smallSweep(), SweepFormat::Csv, SweepFile::Start::New);
        QVERIFY(!file);
        QVERIFY(toString(file.error()).find("--resume") != std::string::npos);
        QCOMPARE(read(), half);
        write("anything else");
        QCOMPARE(swept(SweepFormat::Csv, 1, SweepFile::Start::New), whole);
    }

    void twoSweepsDoNotWriteOneFile()
    {
        const auto first = SweepFile::open(path(), smallSweep(), SweepFormat::Csv, SweepFile::Start::New);
        const auto second = SweepFile::open(path(), smallSweep(), SweepFormat::Csv, SweepFile::Start::Resume);
        QVERIFY(first.has_value());
        QVERIFY(!second);
        QVERIFY(toString(second.error()).find("another process") != std::string::npos);
    }

    void aSweepThatIsStoppedLeavesWholeRows()
    {
        const QByteArray whole = swept(SweepFormat::Csv, 1);
        QFile::remove(QString::fromStdString(path()));
        const SweepSpec spec = smallSweep();
        {
            auto file = SweepFile::open(path(), spec, SweepFormat::Csv, SweepFile::Start::New);
            std::stop_source stop;
            const auto end = runSweep(
                spec, SweepFormat::Csv, builtinCatalogue(), *file, 1, stop.get_token(), [&](const SweepProgress &now) {
                    if (now.written >= 10)
                        stop.request_stop();
                });
            QVERIFY(end->isStopped);
            QVERIFY(end->written >= 10 && end->written < 96);
        }
        QVERIFY(whole.startsWith(read()));
        QVERIFY(read().endsWith('\n'));
        QCOMPARE(swept(SweepFormat::Csv, 3, SweepFile::Start::Resume), whole);
    }

private:
    std::string path() const { return m_folder->filePath(QStringLiteral("rows")).toStdString(); }
    QByteArray read() const
    {
        QFile file(QString::fromStdString(path()));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void write(const QByteArray &bytes) const
    {
        QFile file(QString::fromStdString(path()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }
    QByteArray swept(SweepFormat format, std::size_t threads, SweepFile::Start start = SweepFile::Start::New) const
    {
        const SweepSpec spec = smallSweep();
        {
            auto file = SweepFile::open(path(), spec, format, start);
            if (!file || !runSweep(spec, format, builtinCatalogue(), *file, threads, {}))
                return file ? "failed" : QByteArray::fromStdString(toString(file.error()));
        }
        return read();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_APPLESS_TEST(TstSweepFile)
#include "tst_sweep_file.moc"
