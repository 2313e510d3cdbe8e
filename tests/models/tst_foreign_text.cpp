// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/foreign_text.h"
#include "tests/support/test_program.h"

#include <QTest>
#include <QTextDocument>

using namespace trainyard;

class TestForeignText : public QObject {
    Q_OBJECT

private slots:
    void ordinaryNamesStayAsTheyAre()
    {
        const QString name = QStringLiteral("Plan für Zürich & Co (2).trainyard.json");
        const QString path = QStringLiteral("/home/me/") + name;
        QCOMPARE(fileText(path), name);
        QCOMPARE(pathText(path), path);
        QCOMPARE(fileLabel(path), QStringLiteral("Plan für Zürich && Co (2).trainyard.json"));
        QCOMPARE(plainTip(name), name);
    }

    void noNameBreaksALineOrTurnsTheWritingRound()
    {
        const QString shown = fileText(QStringLiteral("/a/x\ny\u202etxt.exe\x1b[31m"));
        for (const QChar c : shown)
            QVERIFY2(c.isPrint(), qPrintable(shown));
        QVERIFY(shown.contains(QLatin1String("\\x0a")) && shown.contains(QLatin1String("\\u202e")));
    }

    void aLongNameKeepsItsBeginningAndItsEnd()
    {
        const QString shown =
            fileText(QStringLiteral("/a/begin") + QString(1'000'000, u'x') + QStringLiteral("end.json"));
        QVERIFY(shown.size() <= 200);
        QVERIFY(shown.startsWith(QLatin1String("begin")) && shown.endsWith(QLatin1String("end.json")));
        QVERIFY(pathText(QString(1'000'000, u'x')).size() <= 610);
    }

    void aTooltipShowsWhatLooksLikeHtmlAsItIs()
    {
        const QString name = QStringLiteral("/a/<b>bold</b> & <img src=x>\nsecond line");
        QTextDocument shown;
        shown.setHtml(plainTip(name));
        QVERIFY(Qt::mightBeRichText(plainTip(name)));
        QCOMPARE(shown.toPlainText(), name);
    }
};

TRAINYARD_TEST(TestForeignText)
#include "tst_foreign_text.moc"
