// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_spans.h"
#include "tests/support/job_evaluation.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_jobs.h"
#include "views/details/details.h"

#include <QDropEvent>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class MapJobsTest : public QObject {
    Q_OBJECT
private slots:
    void gpusThatServeJobsAreMarkedAndSayWhich()
    {
        const EvaluationPtr evaluation = test::jobEvaluation({ .jobs = 6, .gpus = 4, .datacenters = 2 });
        const MapScene scene = buildScene(*evaluation->plan, evaluation.get());
        QVERIFY(scene.hasJobs);
        std::set<int> used;
        for (const JobResult &job : evaluation->metrics.jobs->perJob)
            used.insert(job.ranOn.begin(), job.ranOn.end());
        for (int gpu = 0; gpu < 8; ++gpu) {
            const PoolScene &pool = scene.islands[std::size_t(gpu / 4)].pools[0];
            QCOMPARE(pool.stageOfGpu[std::size_t(gpu % 4)], used.contains(gpu) ? 0 : kIdleStage);
            const QStringList card = gpuCard(scene, gpu / 4, 0, gpu % 4);
            QVERIFY2(card.at(0).endsWith(QStringLiteral("GPU %1").arg(gpu)), qPrintable(card.at(0)));
            if (used.contains(gpu))
                QVERIFY2(card.at(1).contains(QStringLiteral("computes")), qPrintable(card.at(1)));
            QVERIFY(!card.join(u' ').contains(QStringLiteral("stage")));
        }
        QVERIFY(scene.islands[0].subtitle.contains(QStringLiteral("job")));
    }

    void aDropMeansTheGpuTheNodeOrTheDatacenter()
    {
        const Plan plan = test::jobPlan({ .gpus = 4, .datacenters = 2 });
        const auto at = [&](MapHit::Kind kind, int island, int gpu) {
            MapHit hit;
            hit.kind = kind;
            hit.island = island;
            hit.pool = 0;
            hit.gpu = gpu;
            return gpusUnder(plan.cluster, hit);
        };
        QCOMPARE(at(MapHit::Kind::Gpu, 1, 2), (std::vector<int> { 6 }));
        QCOMPARE(at(MapHit::Kind::Node, 1, 0), (std::vector<int> { 4, 5, 6, 7 }));
        QCOMPARE(at(MapHit::Kind::Island, 0, -1), (std::vector<int> { 0, 1, 2, 3 }));
        QVERIFY(at(MapHit::Kind::Link, 0, -1).empty());
    }

    void aJobDroppedOnAGpuAsksToBePinnedThere()
    {
        const EvaluationPtr evaluation = test::jobEvaluation();
        ClusterMap map;
        map.resize(700, 400);
        map.setShown(shownOf(evaluation->plan));
        map.setShown(test::told(evaluation->plan, evaluation));
        map.show();
        QVERIFY(QTest::qWaitForWindowExposed(&map));
        QSignalSpy pins(&map, &ClusterMap::pinRequested);
        // Somewhere a single GPU is hit.
        QPointF at;
        for (int x = 0; x < map.width() && at.isNull(); x += 2)
            for (int y = 30; y < map.height() && at.isNull(); y += 2) {
                const MapHit hit = hitTest(map.mapLayout(), QPointF(x, y));
                if (hit.kind == MapHit::Kind::Gpu && hit.gpu == 1)
                    at = QPointF(x, y);
            }
        QVERIFY(!at.isNull());
        QMimeData mime;
        mime.setData(QStringLiteral("application/x-trainyard-job"), "model 2");
        QDragEnterEvent enter(at.toPoint(), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&map, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(at, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&map, &drop);
        QCOMPARE(pins.size(), 1);
        QCOMPARE(pins.at(0).at(0).toString(), QStringLiteral("model 2"));
        QCOMPARE(pins.at(0).at(1).value<std::vector<int>>(), (std::vector<int> { 1 }));
    }

    void detailsOfAGpuListItsJobs()
    {
        const EvaluationPtr evaluation = test::jobEvaluation();
        const Details one = jobGpuDetails(*evaluation, 2);
        QVERIFY(one.title.startsWith(QStringLiteral("GPU 2 · V100")));
        QCOMPARE(one.subtitle, QStringLiteral("Oregon"));
        QStringList lines;
        for (const DetailFact &fact : one.facts)
            lines << fact.name.trimmed() + u' ' + fact.value;
        for (const JobResult &job : evaluation->metrics.jobs->perJob) {
            const bool ran = std::ranges::find(job.ranOn, 2) != job.ranOn.end();
            const QString name = QString::fromStdString(job.name);
            QCOMPARE(std::ranges::any_of(lines, [&](const QString &line) { return line.startsWith(name); }), ran);
        }
        MapItem item;
        item.kind = MapItem::Kind::Gpus;
        item.island = item.pool = 0;
        item.firstGpu = 2;
        item.gpus = 1;
        QCOMPARE(itemDetails(*evaluation, item).title, QStringLiteral("GPU 2"));
        item.kind = MapItem::Kind::Island;
        for (const DetailFact &fact : itemDetails(*evaluation, item).facts)
            QVERIFY(!fact.value.contains(QStringLiteral("stage")) && !fact.value.contains(QStringLiteral("iteration")));
    }
};

TRAINYARD_TEST(MapJobsTest)
#include "tst_map_jobs.moc"
