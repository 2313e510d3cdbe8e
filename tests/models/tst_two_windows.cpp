// SPDX-License-Identifier: GPL-3.0-or-later
// Two windows that have one plan's file open: whoever would write over what it has not seen is asked, and until it
// answers the file stays as it is.
#include "models/plan_document.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_io.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;

namespace {

PlanPtr plan(int microBatch)
{
    Plan made;
    made.name = "Of two windows";
    Datacenter here;
    here.id = "here";
    Pool &pool = here.pools.emplace_back();
    pool.id = "p";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 2;
    pool.gpusPerNode = 8;
    made.cluster.datacenters.push_back(here);
    made.workload.model = "llama-3-8b";
    made.workload.globalBatch = 4'096;
    made.workload.microBatch = microBatch;
    return std::make_shared<const Plan>(made);
}

/// A window's document with what it asked and said.
class Window {
public:
    explicit Window(const QString &path)
        : m_path(path)
    {
        open();
    }
    void open()
    {
        QSignalSpy replaced(&m_document, &PlanDocument::replaced);
        m_document.open(m_path);
        QVERIFY(replaced.wait());
    }
    void edit(int microBatch) { m_document.apply(plan(microBatch)); }
    /// Whether it was saved; else it asks.
    bool save()
    {
        return isSaved([this] { m_document.save(); });
    }
    bool saveOver()
    {
        return isSaved([this] { m_document.saveOver(); });
    }
    void keepMine() { m_document.keepMine(); }
    [[nodiscard]] int changes() const { return int(m_changed.count()); }

private:
    template <class Act> bool isSaved(Act act)
    {
        QSignalSpy saved(&m_document, &PlanDocument::saved), asked(&m_document, &PlanDocument::saveWouldOverwrite);
        act();
        [&] { QTRY_VERIFY(saved.count() + asked.count() == 1); }();
        return saved.count() == 1;
    }

    QString m_path;
    PlanDocument m_document { plan(1), {} };
    QSignalSpy m_changed { &m_document, &PlanDocument::changedOnDisk };
};

} // namespace

class TestTwoWindows : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        write(1);
    }

    void whoSavesAfterTheOtherIsAskedEachTime()
    {
        Window first(file()), second(file());
        for (int round = 1; round <= 4; ++round) {
            first.edit(round * 10);
            second.edit(round * 10 + 1);
            QVERIFY(first.save());
            QVERIFY(!second.save());
            QCOMPARE(onDisk(), round * 10); // nothing was lost by asking
            QVERIFY(second.saveOver());
            QCOMPARE(onDisk(), round * 10 + 1);
            QTRY_VERIFY(first.changes() > 0); // and who is written over knows
            QVERIFY(!first.save());
            first.open();
        }
    }

    /// The other window undoes what it saved: the file is again as this one wrote it once, and still not as it knows
    /// it.
    void whatIsBroughtBackIsAChangeToo()
    {
        Window first(file()), second(file());
        first.edit(2);
        QVERIFY(first.save());
        write(3);
        first.open(); // it knows of 3 now
        write(2);
        first.edit(4);
        QVERIFY(!first.save());
        QCOMPARE(onDisk(), 2);
    }

    void whatIsBroughtBackAfterAnAnswerIsAChangeToo()
    {
        Window first(file());
        first.edit(2);
        QVERIFY(first.save());
        write(3);
        QTRY_COMPARE(first.changes(), 1);
        first.keepMine(); // instead of 3
        write(2);
        first.edit(4);
        QVERIFY(!first.save());
        QCOMPARE(onDisk(), 2);
    }

    void anAnswerIsAboutWhatWasAskedAlone()
    {
        Window first(file());
        first.edit(2);
        write(3);
        QVERIFY(!first.save());
        write(4); // while the question stands
        QVERIFY(!first.saveOver());
        QCOMPARE(onDisk(), 4);
        QVERIFY(first.saveOver()); // asked about 4, and answered
        QCOMPARE(onDisk(), 2);
    }

    void savesThatFollowEachOtherAskNothing()
    {
        Window first(file());
        for (int b = 2; b < 8; ++b) {
            first.edit(b);
            QVERIFY(first.save());
        }
        QCOMPARE(first.changes(), 0);
    }

private:
    QString file() const { return m_folder->filePath(QStringLiteral("plan.trainyard.json")); }
    void write(int microBatch) const { QVERIFY(writePlan(*plan(microBatch), file().toStdString())); }
    int onDisk() const
    {
        const auto content = readBytes(file());
        const ExpectedAll<PlanPtr> read =
            content ? parsePlanBytes(*content, file()) : ExpectedAll<PlanPtr>(std::unexpected(content.error()));
        return read ? (*read)->workload.microBatch : -1;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_GUILESS_TEST(TestTwoWindows)
#include "tst_two_windows.moc"
