// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/dropped_file.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

class DroppedFileTest : public QObject {
    Q_OBJECT
private slots:
    void aPlanIsKnownByItsFormatOrItsSections()
    {
        QVERIFY(kindOf(R"({"format": "trainyard.plan", "version": 1})") == FileKind::Plan);
        QVERIFY(kindOf(R"({"cluster": {}, "workload": {}})") == FileKind::Plan);
    }
    void aBrokenPlanIsStillAPlan() { QVERIFY(kindOf(R"({"format": "trainyard.plan", "version": )") == FileKind::Plan); }
    void aModelConfigIsKnownByItsKeys()
    {
        QVERIFY(kindOf(R"({"model_type": "llama", "hidden_size": 4096})") == FileKind::ModelConfig);
        QVERIFY(kindOf(R"({"n_embd": 768})") == FileKind::ModelConfig);
    }
    void measuredRowsAreKnownByTheirFormat()
    {
        QVERIFY(kindOf(R"({"format": "trainyard.validation", "version": 1, "rows": []})") == FileKind::ValidationRows);
    }
    void aReportIsKnownByThePlanInIt()
    {
        QVERIFY(kindOf(R"(<!DOCTYPE html><html><body><template id="trainyard-plan">{}</template></body></html>)")
            == FileKind::Plan);
        QVERIFY(kindOf("%PDF-1.4\n<trainyard:plan>{}</trainyard:plan>") == FileKind::Plan);
        QVERIFY(kindOf("<html>a page</html>") == FileKind::Unknown);
        QVERIFY(kindOf("%PDF-1.4\n") == FileKind::Unknown);
    }
    void anythingElseIsUnknown()
    {
        QVERIFY(kindOf("") == FileKind::Unknown);
        QVERIFY(kindOf("PNG\x1a") == FileKind::Unknown);
        QVERIFY(kindOf(R"([1, 2])") == FileKind::Unknown);
        QVERIFY(kindOf(R"({"traceEvents": []})") == FileKind::Unknown);
    }
};

TRAINYARD_APPLESS_TEST(DroppedFileTest)
#include "tst_dropped_file.moc"
