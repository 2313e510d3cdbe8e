// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"
#include "views/panels/workload_editor.h"

#include "hand_made.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace trainyard;

class WorkloadEditorTest : public QObject {
    Q_OBJECT
private:
    PlanPtr m_plan = handmade::shared(handmade::plan());
    std::unique_ptr<WorkloadEditor> m_editor;
    std::unique_ptr<QSignalSpy> m_committed;

    template <class Widget> Widget *field(const QString &name) const
    {
        for (Widget *w : m_editor->findChildren<Widget *>())
            if (w->accessibleName() == name)
                return w;
        return nullptr;
    }
    const WorkloadSpec &committed() const { return m_last->workload; }
    void take() { m_last = m_committed->last().at(0).value<PlanPtr>(); }
    PlanPtr m_last;

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }
    void init()
    {
        m_editor = std::make_unique<WorkloadEditor>(builtinCatalogue());
        m_editor->setShown(shownOf(m_plan));
        m_editor->show();
        m_committed = std::make_unique<QSignalSpy>(m_editor.get(), &WorkloadEditor::editCommitted);
    }

    void typingANumberCommitsWhenEditingEnds()
    {
        auto *batch = field<QSpinBox>("Global batch");
        QCOMPARE(batch->value(), 128);
        batch->setFocus();
        batch->selectAll();
        QTest::keyClicks(batch, "256");
        QCOMPARE(m_committed->count(), 0);
        QTest::keyClick(batch, Qt::Key_Return);
        QCOMPARE(m_committed->count(), 1);
        take();
        QCOMPARE(committed().globalBatch, 256);
        QCOMPARE(m_committed->last().at(1).toString(), QStringLiteral("Global batch 128 → 256"));
    }

    void numbersHaveTheirUnitAndOneIsOne()
    {
        auto *micro = field<QSpinBox>("Micro-batch");
        micro->setValue(2);
        QCOMPARE(micro->text(), QStringLiteral("2 sequences"));
        micro->setValue(1);
        QCOMPARE(micro->text(), QStringLiteral("1 sequence"));
        Plan one = *m_plan;
        one.workload.globalBatch = 1;
        m_editor->setShown(shownOf(std::make_shared<const Plan>(one)));
        QCOMPARE(field<QSpinBox>("Global batch")->text(), QStringLiteral("1 sequence"));
        QVERIFY(field<QComboBox>("Precision")->findText("BF16") >= 0);
        QVERIFY(field<QComboBox>("Optimizer")->findText("8-bit Adam") >= 0);
        QCOMPARE(field<QComboBox>("Optimizer")->count(), 6); // GaLore, too
    }

    void noNumberIsTypedThatAPlanFileDoesNotTake()
    {
        for (const auto &[name, key] : { std::pair("Sequence length", "sequence_length"),
                 std::pair("Global batch", "global_batch"), std::pair("Micro-batch", "micro_batch") }) {
            const std::string path = std::string("workload.") + key;
            const int most = field<QSpinBox>(name)->maximum();
            QVERIFY2(withKeySet(*m_plan, path, std::to_string(most)), name);
            QVERIFY2(!withKeySet(*m_plan, path, std::to_string(most + 1)), name);
        }
    }

    void theModelIsFoundByTyping()
    {
        auto *model = field<QComboBox>("Model");
        model->lineEdit()->selectAll();
        QTest::keyClicks(model->lineEdit(), QString::fromStdString(builtinCatalogue().model("llama-3-8b")->name));
        QTest::keyClick(model->lineEdit(), Qt::Key_Return);
        QVERIFY(m_committed->count() >= 1);
        take();
        QCOMPARE(committed().model, std::string("llama-3-8b"));
    }

    void whatIsNoModelChangesNothing()
    {
        auto *model = field<QComboBox>("Model");
        const QString before = model->currentText();
        model->lineEdit()->setText("no such model");
        Q_EMIT model->lineEdit()->editingFinished();
        QCOMPARE(m_committed->count(), 0);
        QCOMPARE(model->currentText(), before);
    }

    void tokensUnderstandSuffixes_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<double>("tokens");
        QTest::newRow("tera") << "2T" << 2e12;
        QTest::newRow("billion") << "300 B tokens" << 3e11;
        QTest::newRow("scientific") << "1.5e12" << 1.5e12;
        QTest::newRow("grouped") << "2,000,000" << 2e6;
    }
    void tokensUnderstandSuffixes()
    {
        QFETCH(QString, typed);
        QFETCH(double, tokens);
        auto *line = field<QLineEdit>("Training tokens");
        line->setText(typed);
        Q_EMIT line->editingFinished();
        QCOMPARE(m_committed->count(), 1);
        take();
        QCOMPARE(*committed().trainingTokens, tokens);
    }

    void leavingTheTokensAloneKeepsTheExactNumber()
    {
        auto *line = field<QLineEdit>("Training tokens");
        QVERIFY(!line->text().isEmpty());
        Q_EMIT line->editingFinished();
        QCOMPARE(m_committed->count(), 0);
    }

    void withoutAPlanNothingCanBeChosen()
    {
        m_editor = std::make_unique<WorkloadEditor>(builtinCatalogue());
        QSignalSpy committed(m_editor.get(), &WorkloadEditor::editCommitted);
        QVERIFY(!m_editor->isEnabled());
        Q_EMIT field<QComboBox>("Precision")->activated(1);
        Q_EMIT field<QComboBox>("Optimizer")->activated(1);
        QCOMPARE(committed.count(), 0);
        m_editor->setShown(shownOf(m_plan));
        QVERIFY(m_editor->isEnabled());
    }

    void choosingAConfigFileAsksForItAndKeepsTheModelUntilThen()
    {
        auto *model = field<QComboBox>("Model");
        const QString before = model->currentText();
        QSignalSpy asked(m_editor.get(), &WorkloadEditor::configRequested);
        model->lineEdit()->selectAll();
        model->lineEdit()->setText("From config.json…");
        QTest::keyClick(model->lineEdit(), Qt::Key_Return);
        QVERIFY(asked.count() >= 1);
        QCOMPARE(m_committed->count(), 0);
        QCOMPARE(model->currentText(), before);
    }
};

TRAINYARD_TEST(WorkloadEditorTest)
#include "tst_workload_editor.moc"
