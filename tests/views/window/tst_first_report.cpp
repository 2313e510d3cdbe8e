// SPDX-License-Identifier: GPL-3.0-or-later
// A committed log of inputs, replayed with real events, takes someone from an empty start to a written report in at
// most sixty of them: every key pressed and every click counts as one.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/parts/text_line.h"
#include "views/start/new_plan_sheet.h"

#include <QAbstractButton>
#include <QDir>
#include <QFile>
#include <QKeySequence>
#include <QWindow>

using namespace trainyard;

namespace {

constexpr int kMostInputs = 60;
constexpr int kPatienceMs = 60000;

struct Replay : WindowFixture {
    int inputs = 0;
    double opened = 0; // iteration of the plan as created, seconds

    Replay()
    {
        answers.config = folder.filePath("our-model/config.json");
        answers.file = folder.filePath("report.html");
        QDir().mkpath(folder.filePath("our-model"));
        QFile file(answers.config);
        [[maybe_unused]] const bool isOpen = file.open(QIODevice::WriteOnly);
        file.write(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32,
                       "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})");
        window.activateWindow();
        [&] { QVERIFY(QTest::qWaitForWindowActive(&window)); }();
    }
    void key(const QString &text)
    {
        const QKeyCombination keys = QKeySequence::fromString(text)[0];
        QTest::keyClick(window.windowHandle(), keys.key(), keys.keyboardModifiers());
        ++inputs;
    }
    void type(const QString &text)
    {
        for (const QChar letter : text) {
            QTest::keyClick(window.windowHandle(), letter.toLatin1());
            ++inputs;
        }
    }
    QWidget *named(QString name)
    {
        const bool isPrefix = name.endsWith(u'*');
        if (isPrefix)
            name.chop(1);
        for (QWidget *widget : window.findChildren<QWidget *>()) {
            if (!widget->isVisible() || !widget->isEnabled())
                continue;
            const auto *button = qobject_cast<const QAbstractButton *>(widget);
            for (const QString &known : { widget->accessibleName(), button ? button->text().remove(u'&') : QString() })
                if (!known.isEmpty() && (known == name || (isPrefix && known.startsWith(name))))
                    return widget;
        }
        return nullptr;
    }
    void click(const QString &name)
    {
        // As a hand does: what moved away before it was reached is aimed at again.
        QPoint at(-1, -1);
        const auto isAimedAt = [&] {
            const QWidget *widget = named(name);
            if (!widget)
                return false;
            const QPoint middle = widget->mapTo(&window, widget->rect().center());
            if (middle == at)
                return true;
            at = middle;
            QTest::mouseMove(window.windowHandle(), at);
            return false;
        };
        QTRY_VERIFY2_WITH_TIMEOUT(isAimedAt(), qPrintable(name), kPatienceMs);
        QVERIFY2(window.rect().contains(at), qPrintable(name + " is out of sight"));
        QTest::mouseClick(window.windowHandle(), Qt::LeftButton, {}, at);
        ++inputs;
    }
    bool shows(const QString &text)
    {
        for (const TextLine *line : window.findChildren<TextLine *>())
            if (line->isVisible() && line->text().contains(text))
                return true;
        return false;
    }
    bool isEvaluated() const
    {
        return !bridge.isStale() && bridge.settled() && bridge.settled()->plan == document.plan()
            && !document.isPreviewing();
    }
    void check(const QString &what)
    {
        const QString verb = what.section(u' ', 0, 0), rest = what.section(u' ', 1);
        if (verb == "focus")
            QTRY_VERIFY2_WITH_TIMEOUT(
                QApplication::focusWidget() && QApplication::focusWidget()->accessibleName() == rest, qPrintable(rest),
                kPatienceMs);
        else if (verb == "preview")
            QTRY_VERIFY2_WITH_TIMEOUT(window.newPlan()->findChild<TextLine *>("preview")->text().contains(rest),
                qPrintable(rest), kPatienceMs);
        else if (verb == "datacenters")
            QTRY_COMPARE_WITH_TIMEOUT(int(document.plan()->cluster.datacenters.size()), rest.toInt(), kPatienceMs);
        else if (verb == "evaluated")
            QTRY_VERIFY_WITH_TIMEOUT(isEvaluated(), kPatienceMs);
        else if (verb == "shows")
            QTRY_VERIFY2_WITH_TIMEOUT(shows(rest), qPrintable(rest), kPatienceMs);
        else if (verb == "faster")
            QVERIFY(*bridge.settled()->metrics.iterationTime < *bridge.baseline()->metrics.iterationTime);
        else if (verb == "report")
            QTRY_VERIFY_WITH_TIMEOUT(QFile(answers.file).size() > 10000, kPatienceMs);
        else
            QFAIL(qPrintable("unknown check: " + what));
    }
};

} // namespace

class FirstReportTest : public QObject {
    Q_OBJECT
private slots:
    void theCommittedLogEndsWithAReport()
    {
        Replay f;
        QFile log(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/inputs/first-report.inputs"));
        QVERIFY(log.open(QIODevice::ReadOnly));
        for (const QString &line : QString::fromUtf8(log.readAll()).split(u'\n', Qt::SkipEmptyParts)) {
            const QString verb = line.section(u' ', 0, 0), rest = line.section(u' ', 1);
            if (verb == "#" || line.startsWith(u'#'))
                continue;
            if (verb == "key")
                f.key(rest);
            else if (verb == "type")
                f.type(rest);
            else if (verb == "click")
                f.click(rest);
            else if (verb == ">")
                f.check(rest);
            else
                QFAIL(qPrintable("unknown input: " + line));
            if (QTest::currentTestFailed())
                QFAIL(qPrintable("at: " + line));
        }
        QVERIFY2(f.inputs <= kMostInputs, qPrintable(QStringLiteral("%1 inputs").arg(f.inputs)));
        qInfo("%d inputs", f.inputs);
        // The report is of the improved plan, and opens as it.
        const Plan made = *f.document.plan();
        QCOMPARE(made.workload.inlineModel->layers, 36);
        QCOMPARE(made.cluster.wanLinks.size(), std::size_t(1));
        f.answers.unsaved = Prompts::Unsaved::Discard;
        f.window.files().openDropped(f.answers.file);
        QTRY_VERIFY(f.document.path().isEmpty() && !f.document.undoStack().canUndo());
        f.settle();
        QVERIFY(f.document.plan()->cluster == made.cluster && f.document.plan()->parallelism == made.parallelism);
    }
};

TRAINYARD_TEST(FirstReportTest)
#include "tst_first_report.moc"
