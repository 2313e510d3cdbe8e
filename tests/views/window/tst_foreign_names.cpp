// SPDX-License-Identifier: GPL-3.0-or-later
// A plan that is called, with its file and its datacenters, what looks like HTML: the window shows the names as they
// are, loads no picture that they name, and makes nothing bold of them: in labels, tips, messages and boxes.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/text/foreign_text.h"

#include <QFile>
#include <QHelpEvent>
#include <QLabel>
#include <QMessageBox>
#include <QTableWidget>
#include <QToolTip>

using namespace trainyard;

namespace {

const QString kHostile = QStringLiteral("<b>x</b><img src=y>");

/// The sample with its plan and its datacenters called so, in a file that is called so as far as files can be.
QString writeHostilePlan(const QString &folder)
{
    QFile sample(WindowFixture::samplePath(QStringLiteral("llama-3-70b-three-regions")));
    if (!sample.open(QIODevice::ReadOnly))
        return {};
    QByteArray text = sample.readAll();
    for (const char *name : { "Virginia", "Ohio", "Oregon" })
        text.replace(QByteArray(name), kHostile.toUtf8() + name);
    text.replace("Llama 3 70B over three regions", kHostile.toUtf8());
    QFile made(folder + QStringLiteral("/<b>x<img src=y>.trainyard.json"));
    return made.open(QIODevice::WriteOnly) && made.write(text) == text.size() ? made.fileName() : QString();
}

/// What of a label would be shown as anything but its text.
QString hostileMarkup(const QLabel &label)
{
    const bool isHtml =
        label.textFormat() == Qt::RichText || (label.textFormat() == Qt::AutoText && Qt::mightBeRichText(label.text()));
    return isHtml && (label.text().contains(QStringLiteral("<img")) || label.text().contains(QStringLiteral("<b>x")))
        ? label.text()
        : QString();
}

void askForTip(QWidget &widget, QPoint at)
{
    QHelpEvent help(QEvent::ToolTip, at, widget.mapToGlobal(at));
    QApplication::sendEvent(&widget, &help);
}

} // namespace

class TstForeignNames : public QObject {
    Q_OBJECT

private slots:
    void namesOfAPlanAreShownAsTheyAre()
    {
        WindowFixture at;
        const QString path = writeHostilePlan(at.folder.path());
        QVERIFY(!path.isEmpty());
        at.window.files().openAtStart({ path });
        QVERIFY(test::until([&] { return at.document.plan()->cluster.datacenters.front().name.starts_with("<b>x"); }));
        at.settle();
        at.window.messages().show({ QStringLiteral("test"), Message::Tone::Error, kHostile, kHostile, {} });
        QApplication::processEvents();
        int showing = 0;
        for (const QLabel *label : at.window.findChildren<QLabel *>()) {
            showing += int(label->isVisible() && label->text() == kHostile);
            QVERIFY2(hostileMarkup(*label).isEmpty(), qPrintable(hostileMarkup(*label)));
        }
        QVERIFY(showing >= 1); // the title
    }

    void tipsOfWidgetsAreShownAsTheyAre()
    {
        WindowFixture at;
        int asked = 0;
        for (QWidget *widget : at.window.findChildren<QWidget *>()) {
            if (!widget->isVisible() || widget->toolTip().isEmpty() || widget->property("isRichTip").toBool())
                continue;
            widget->setToolTip(kHostile);
            askForTip(*widget, widget->rect().center());
            QCOMPARE(QToolTip::text(), plainTip(kHostile));
            QToolTip::hideText();
            ++asked;
        }
        QVERIFY(asked > 10);
    }

    void whatIsRichOnPurposeStaysRich()
    {
        WindowFixture at;
        QWidget *rich = nullptr;
        for (QWidget *widget : at.window.findChildren<QWidget *>())
            if (widget->isVisible() && widget->property("isRichTip").toBool())
                rich = widget;
        QVERIFY(rich);
        askForTip(*rich, rich->rect().center());
        QVERIFY(QToolTip::text().startsWith(QStringLiteral("<b>")));
    }

    void tipsOfCellsAndBoxesOfQtAreShownAsTheyAre()
    {
        WindowFixture at;
        QTableWidget table(1, 1);
        auto *cell = new QTableWidgetItem(QStringLiteral("cell"));
        cell->setToolTip(kHostile);
        table.setItem(0, 0, cell);
        table.show();
        askForTip(*table.viewport(), table.visualItemRect(cell).center());
        QCOMPARE(QToolTip::text(), plainTip(kHostile));
        QMessageBox box(QMessageBox::NoIcon, QStringLiteral("title"), kHostile);
        box.setInformativeText(kHostile);
        box.show();
        QVERIFY(QTest::qWaitForWindowExposed(&box));
        int labels = 0;
        for (const QLabel *label : box.findChildren<QLabel *>())
            if (label->text() == kHostile) {
                QCOMPARE(label->textFormat(), Qt::PlainText);
                ++labels;
            }
        QCOMPARE(labels, 2);
    }
};

TRAINYARD_TEST(TstForeignNames)
#include "tst_foreign_names.moc"
