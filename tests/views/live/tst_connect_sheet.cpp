// SPDX-License-Identifier: GPL-3.0-or-later
// The sheet that connects to a run: kinds, the fields that matter for each, what is wrong said at its field, secrets
// that do not stay.
#include "tests/support/test_program.h"
#include "views/live/connect_sheet.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;
using Type = live::SourceType;

namespace {

struct Sheet {
    QString asked;
    live::SourceSettings given;
    std::optional<Error> answer;
    ConnectSheet sheet { [this](const QString &address, const live::SourceSettings &settings) -> Expected<void> {
        asked = address;
        given = settings;
        const auto parsed = live::parseAddress(address.toStdString());
        if (!parsed)
            return std::unexpected(parsed.error());
        if (answer)
            return std::unexpected(*answer);
        return {};
    } };

    Sheet()
    {
        applyTheme(*qApp, ThemeKind::Dark);
        sheet.resize(1280, 720);
        sheet.show();
        sheet.start();
    }
    void type(const QString &address)
    {
        sheet.address->setFocus();
        sheet.address->selectAll();
        QTest::keyClicks(sheet.address, address);
    }
    void press() { QTest::mouseClick(sheet.connectButton, Qt::LeftButton); }
    [[nodiscard]] QLineEdit *line(ConnectField field) const { return qobject_cast<QLineEdit *>(sheet.field(field)); }
};

} // namespace

class ConnectSheetTest : public QObject {
    Q_OBJECT
private slots:
    void aKindPutsItsExampleIntoTheFieldAndShowsItsSettings()
    {
        Sheet s;
        QVERIFY(s.sheet.kind(Type::Prometheus)->isChecked());
        QTest::mouseClick(s.sheet.kind(Type::Replay), Qt::LeftButton, {}, QPoint(8, 8));
        QVERIFY(s.sheet.address->text().startsWith("replay:"));
        QVERIFY(s.sheet.isShown(ConnectField::Speed) && s.sheet.isShown(ConnectField::Repeated));
        QVERIFY(!s.sheet.isShown(ConnectField::Token) && s.sheet.browse->isVisible());
        QTest::mouseClick(s.sheet.kind(Type::Listener), Qt::LeftButton, {}, QPoint(8, 8));
        QCOMPARE(s.sheet.address->text(), QStringLiteral("listen:4318"));
        QVERIFY(s.sheet.isShown(ConnectField::Token) && s.sheet.isShown(ConnectField::Certificate));
        QVERIFY(!s.sheet.isShown(ConnectField::Speed) && !s.sheet.browse->isVisible());
    }
    void whatIsTypedTellsItsKind()
    {
        Sheet s;
        const struct {
            const char *address;
            Type kind;
        } all[] = { { "http://prom:9090", Type::Prometheus }, { "listen:0.0.0.0:4318", Type::Listener },
            { "tail:/logs/train.log", Type::Tail }, { "command:ssh a tail -F b", Type::Command },
            { "wss://node0:7070/stream", Type::Stream }, { "tcp://node0:7070", Type::Stream },
            { "replay:a.trainyard-recording", Type::Replay } };
        for (const auto &one : all) {
            s.type(QLatin1String(one.address));
            QVERIFY2(s.sheet.kind(one.kind)->isChecked(), one.address);
        }
        s.type(QStringLiteral("gopher"));
        for (const ConnectKind &kind : connectKinds())
            QVERIFY(!s.sheet.kind(kind.type)->isChecked());
    }
    void certificatesAreAskedForWhereThereIsTls()
    {
        Sheet s;
        s.type(QStringLiteral("http://prom:9090"));
        QVERIFY(!s.sheet.isShown(ConnectField::CaFile));
        s.type(QStringLiteral("https://prom:9090"));
        QVERIFY(s.sheet.isShown(ConnectField::CaFile) && s.sheet.isShown(ConnectField::Verified));
    }
    void whatIsWrongWithAnAddressStandsAtTheAddress()
    {
        Sheet s;
        QSignalSpy connected(&s.sheet, &ConnectSheet::connected);
        s.type(QStringLiteral("gopher://old"));
        s.press();
        QVERIFY(connected.isEmpty());
        QVERIFY2(!s.sheet.error().isEmpty(), qPrintable(s.asked));
        QCOMPARE(s.sheet.focusWidget(), s.sheet.address);
        QCOMPARE(s.sheet.address->accessibleDescription(), s.sheet.error());
        QTest::keyClicks(s.sheet.address, "x"); // mended
        QVERIFY(s.sheet.error().isEmpty());
    }
    void aTokenThatIsMissingIsToldAtTheToken()
    {
        Sheet s;
        s.answer = Error { ErrorCode::BadValue, "token", "a listener beyond this machine has no token", "one" };
        s.type(QStringLiteral("listen:0.0.0.0:4318"));
        s.press();
        QVERIFY(s.sheet.error().isEmpty());
        QVERIFY(s.sheet.error(ConnectField::Token).contains("no token"));
        QCOMPARE(s.sheet.focusWidget(), s.sheet.field(ConnectField::Token));
    }
    void settingsOfTheFieldsInSightAreGiven()
    {
        Sheet s;
        QSignalSpy connected(&s.sheet, &ConnectSheet::connected);
        s.type(QStringLiteral("https://prom:9090"));
        QTest::keyClicks(s.line(ConnectField::User), "ada");
        QTest::keyClicks(s.line(ConnectField::Password), "secret");
        QTest::keyClicks(s.line(ConnectField::Headers), "X-Scope-OrgID: a; X-B: c");
        qobject_cast<QCheckBox *>(s.sheet.field(ConnectField::Verified))->click();
        qobject_cast<QDoubleSpinBox *>(s.sheet.field(ConnectField::Interval))->setValue(2);
        QTest::keyClick(s.sheet.address, Qt::Key_Return);
        QCOMPARE(connected.count(), 1);
        QCOMPARE(s.given.secrets.user, std::string("ada"));
        QCOMPARE(s.given.secrets.password, std::string("secret"));
        QCOMPARE(s.given.headers, (std::vector<std::string> { "X-Scope-OrgID: a", "X-B: c" }));
        QVERIFY(!s.given.isVerified && s.given.intervalSeconds == 2);
        s.type(QStringLiteral("replay:a.trainyard-recording"));
        qobject_cast<QDoubleSpinBox *>(s.sheet.field(ConnectField::Speed))->setValue(10);
        s.press();
        QVERIFY(s.given.secrets == live::SourceSecrets() && s.given.replaySpeed == 10); // what is hidden does not count
    }
    void secretsAreHiddenAndGoneWhenTheSheetIsLeft()
    {
        Sheet s;
        QCOMPARE(s.line(ConnectField::Password)->echoMode(), QLineEdit::Password);
        QCOMPARE(s.line(ConnectField::Token)->echoMode(), QLineEdit::Password);
        QTest::keyClicks(s.line(ConnectField::Password), "secret");
        QTest::keyClicks(s.line(ConnectField::Token), "secret");
        s.sheet.hide();
        QVERIFY(s.line(ConnectField::Password)->text().isEmpty() && s.line(ConnectField::Token)->text().isEmpty());
    }
    void everyFieldHasANameAndIsReachedByTab()
    {
        Sheet s;
        s.type(QStringLiteral("https://prom:9090"));
        QSet<QWidget *> reached;
        for (int i = 0; i < 30; ++i) {
            QTest::keyClick(s.sheet.focusWidget() ? s.sheet.focusWidget() : &s.sheet, Qt::Key_Tab);
            if (QWidget *at = s.sheet.focusWidget())
                reached.insert(at);
        }
        for (const ConnectField field : fieldsFor(kindOf(Type::Prometheus), s.sheet.address->text())) {
            QWidget *widget = s.sheet.field(field);
            QVERIFY2(!widget->accessibleName().isEmpty(), qPrintable(QString::number(int(field))));
            QVERIFY2(reached.contains(widget), qPrintable(widget->accessibleName()));
        }
        QVERIFY(reached.contains(s.sheet.connectButton) && reached.contains(s.sheet.cancel));
        QSignalSpy cancelled(&s.sheet, &ConnectSheet::cancelled);
        QTest::keyClick(s.sheet.connectButton, Qt::Key_Escape);
        QCOMPARE(cancelled.count(), 1);
    }
};

TRAINYARD_TEST(ConnectSheetTest)
#include "tst_connect_sheet.moc"
