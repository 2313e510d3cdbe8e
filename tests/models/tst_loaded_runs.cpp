// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that were read: reading another one adds it, each keeps its step, a session's runs are read again by their
// paths, and one that cannot be read says why.
#include "models/loaded_runs.h"
#include "tests/support/test_program.h"
#include "tests/support/until.h"

#include <QTest>

#include <map>

using namespace trainyard;

namespace {

struct Runs {
    std::map<std::string, int> files; // how many steps each tells
    RunDocument::Read read = [this](const std::vector<std::string> &paths, const SourceOptions &,
                                 const SourcesProgress &) -> Expected<Recording> {
        const auto at = files.find(paths.front());
        if (at == files.end())
            return std::unexpected(Error { ErrorCode::CannotRead, paths.front(), "there is no such file", "" });
        Recording recording;
        recording.sources.push_back({ .file = paths.front() });
        SampleSeries &times = recording.series.emplace_back();
        times.name = SharedText("step_time");
        times.isByStep = true;
        for (int step = 1; step <= at->second; ++step) {
            times.at.push_back(step);
            times.value.push_back(1 + 0.01 * step);
        }
        return recording;
    };
    RunDocument document { read };
    LoadedRuns loaded { document, read };

    bool open(const QString &path, int steps = 5)
    {
        files[path.toStdString()] = steps;
        const RunPtr before = document.run();
        document.open({ path });
        return test::until([&] { return document.run() && document.run() != before && !document.isReading(); });
    }
    [[nodiscard]] QStringList names() const
    {
        QStringList all;
        for (const LoadedRun &run : loaded.all())
            all << run.name;
        return all;
    }
    [[nodiscard]] QString current() const
    {
        const LoadedRun *run = loaded.find(loaded.current());
        return run ? run->name : QString();
    }
};

} // namespace

class LoadedRunsTest : public QObject {
    Q_OBJECT
private slots:
    void readingAnotherRunAddsIt()
    {
        Runs r;
        QVERIFY(r.open("/a/monday") && r.open("/a/tuesday") && r.open("/b/monday"));
        QCOMPARE(r.names(), QStringList({ "monday", "tuesday", "b/monday" }));
        QCOMPARE(r.current(), QString("b/monday"));
        QCOMPARE(r.loaded.all()[0].color + r.loaded.all()[1].color + r.loaded.all()[2].color, 0 + 1 + 2);
        QVERIFY(r.open("/a/tuesday", 7)); // again: the same entry
        QCOMPARE(r.names().size(), 3);
        QCOMPARE(r.current(), QString("tuesday"));
        QCOMPARE(r.loaded.all()[1].run()->steps.size(), r.document.run()->steps.size());
    }

    void theOneThatIsShownLiesUnderThePlanAtTheStepThatWasChosen()
    {
        Runs r;
        QVERIFY(r.open("/a/monday"));
        const RunPtr monday = r.document.run();
        r.document.setStep(4);
        QVERIFY(r.open("/a/tuesday"));
        QVERIFY(!r.document.options().step); // of another run nobody has chosen one
        r.loaded.show(r.loaded.all()[0].id);
        QCOMPARE(r.document.run(), monday);
        QCOMPARE(r.document.options().step, std::optional<std::int64_t>(4));
        QVERIFY(test::until([&] { return r.document.overlay() && r.document.overlay()->run == monday; }));
        QCOMPARE(monday->steps[std::size_t(r.document.overlay()->step)].number, std::int64_t(4));
        r.loaded.setStep(r.loaded.all()[1].id, 3);
        QCOMPARE(r.document.options().step, std::optional<std::int64_t>(4)); // it is not the one that is shown
        r.loaded.show(r.loaded.all()[1].id);
        QCOMPARE(r.document.options().step, std::optional<std::int64_t>(3));
    }

    void closingForgetsOneAndShowsNoOther()
    {
        Runs r;
        QVERIFY(r.open("/a/monday") && r.open("/a/tuesday"));
        r.loaded.close(r.loaded.all()[0].id);
        QCOMPARE(r.names(), QStringList("tuesday"));
        QVERIFY(r.document.run());
        QVERIFY(r.open("/a/wednesday"));
        QCOMPARE(r.loaded.all()[1].color, 0); // the colour that got free
        r.document.close(); // as the menu does
        QCOMPARE(r.names(), QStringList("tuesday"));
        QVERIFY(!r.document.run() && r.loaded.current().empty());
        r.loaded.show(r.loaded.all()[0].id);
        QVERIFY(r.document.run());
    }

    void theReferenceIsOneOfThem()
    {
        Runs r;
        QVERIFY(r.open("/a/monday"));
        r.files["/a/tuesday"] = 4;
        r.document.openReference({ "/a/tuesday" });
        QVERIFY(test::until([&] { return r.document.reference() != nullptr; }));
        QCOMPARE(r.names(), QStringList({ "monday", "tuesday" }));
        QCOMPARE(r.current(), QString("monday"));
        r.loaded.close(r.loaded.all()[1].id);
        QVERIFY(!r.document.reference() && r.document.run());
    }

    void pathsAreKeptAndReadAgain()
    {
        std::string kept;
        {
            Runs r;
            QVERIFY(r.open("/a/monday") && r.open("/a/tuesday"));
            r.loaded.show(r.loaded.all()[0].id);
            r.document.setStep(2);
            kept = r.loaded.toJson();
        }
        QVERIFY(kept.find("step_time") == std::string::npos); // paths, not what was measured
        Runs r;
        r.files = { { "/a/monday", 5 } };
        r.loaded.restore(kept);
        QCOMPARE(r.names(), QStringList({ "monday", "tuesday" }));
        QVERIFY(test::until([&] { return r.document.run() && !r.loaded.all()[1].errors.empty(); }));
        QCOMPARE(r.current(), QString("monday"));
        QCOMPARE(r.document.options().step, std::optional<std::int64_t>(2));
        QVERIFY(!r.loaded.all()[1].run() && !r.loaded.all()[1].isReading);
        QCOMPARE(r.loaded.all()[1].errors[0].what, std::string("there is no such file"));
        r.files["/a/tuesday"] = 6; // it has come back
        r.loaded.readAgain(r.loaded.all()[1].id);
        QVERIFY(test::until([&] { return r.loaded.all()[1].run() != nullptr; }));
        QVERIFY(r.loaded.all()[1].errors.empty());
        QCOMPARE(r.current(), QString("monday"));
        r.loaded.restore(kept); // they are here
        QCOMPARE(r.names().size(), 2);
    }

    void whatIsNoListOfRunsIsLeftOut()
    {
        Runs r;
        for (const char *text : { "", "{", "7", "[]", "[3, {}, {\"paths\": 4}, {\"paths\": [5]}]" })
            r.loaded.restore(text);
        QVERIFY(r.loaded.all().empty());
        QVERIFY(r.loaded.toJson().empty());
    }
};

TRAINYARD_GUILESS_TEST(LoadedRunsTest)
#include "tst_loaded_runs.moc"
