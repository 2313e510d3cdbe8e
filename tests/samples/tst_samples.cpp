// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/catalogue.h"
#include "core/plan/plan_io.h"
#include "core/plan/validate.h"

#include <QDirIterator>
#include <QTest>

using namespace trainyard;

class TstSamples : public QObject {
    Q_OBJECT

private slots:
    void everySampleIsAPlan_data()
    {
        QTest::addColumn<QString>("path");
        QDirIterator files(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"), { QStringLiteral("*.trainyard.json") }, QDir::Files);
        int found = 0;
        for (; files.hasNext(); ++found) {
            const QString path = files.next();
            QTest::newRow(qPrintable(QFileInfo(path).fileName())) << path;
        }
        QVERIFY(found >= 6);
    }

    void everySampleIsAPlan()
    {
        QFETCH(QString, path);
        const auto plan = readPlan(path.toStdString());
        QVERIFY2(plan, plan ? "" : toString(plan.error()[0]).c_str());
        const Errors errors = validatePlan(*plan);
        QVERIFY2(errors.empty(), errors.empty() ? "" : toString(errors[0]).c_str());
        const auto again = parsePlan(formatPlan(*plan), "again", plan->baseDir);
        QVERIFY(again && *again == *plan);
        QVERIFY(!plan->name.empty());
        QVERIFY2(plan->notes.find("Assumed") != std::string::npos || plan->profile, "notes state sources and what is assumed");
        QVERIFY(builtinCatalogue().model(plan->workload.model));
        for (const Datacenter &datacenter : plan->cluster.datacenters)
            for (const Pool &pool : datacenter.pools)
                QVERIFY2(builtinCatalogue().gpu(pool.gpu), pool.gpu.c_str());
        QVERIFY(builtinCatalogue().stack(plan->stack.name));
    }

    void theSizesAreThoseOfTheirTitles()
    {
        const auto gpus = [](const char *name) {
            return readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + name + ".trainyard.json")->cluster.gpus();
        };
        QCOMPARE(gpus("gpt3-175b-1024-a100"), 1024);
        QCOMPARE(gpus("megatron-1t-3072-a100"), 3072);
        QCOMPARE(gpus("llama-3.1-405b-16384-h100"), 16384);
        QCOMPARE(gpus("llama-3-70b-three-regions"), 3 * 192);
        QCOMPARE(gpus("atlas-three-datacenters"), 24);
        QCOMPARE(gpus("mixed-lab"), 4);
    }
};

QTEST_APPLESS_MAIN(TstSamples)
#include "tst_samples.moc"
