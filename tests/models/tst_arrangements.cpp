// SPDX-License-Identifier: GPL-3.0-or-later
// Arrangements of panels: what is kept between starts, and what names they can have.
#include "models/arrangements.h"
#include "tests/support/test_program.h"

#include <QJsonObject>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <numeric>

using namespace trainyard;

class ArrangementsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    static Arrangement wide() { return { 0.8, { 0.1, 0.9, 0 }, { 1, 0 }, "jobs", "edits" }; }

private slots:
    void init()
    {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
        QSettings().clear();
    }
    void whatIsSavedIsThereAtTheNextStart()
    {
        {
            ArrangementStore store;
            QCOMPARE(store.save("  Two   screens ", wide()), QStringLiteral("Two screens"));
        }
        const ArrangementStore next;
        QCOMPARE(next.own().size(), std::size_t(1));
        QCOMPARE(next.own().front().name, QStringLiteral("Two screens"));
        QCOMPARE(next.own().front().value, wide());
        QVERIFY(next.find("two SCREENS"));
    }
    void theSameNameTakesThePlaceAndThoseOfTheProductStay()
    {
        ArrangementStore store;
        store.save("Mine", wide());
        QCOMPARE(store.save("mine", {}), QStringLiteral("Mine"));
        QCOMPARE(store.own().size(), std::size_t(1));
        QCOMPARE(store.own().front().value, Arrangement());
        QCOMPARE(store.save("Design", wide()), QStringLiteral("Design 2"));
        QVERIFY(!(store.find("Design")->value == wide()));
        QVERIFY(store.save("   ", wide()).isEmpty());
    }
    void aNameIsOfOneAlone()
    {
        ArrangementStore store;
        store.save("A", {});
        store.save("B", {});
        QVERIFY(!store.rename(1, "a"));
        QVERIFY(!store.rename(1, "Present"));
        QVERIFY(!store.rename(1, " "));
        QVERIFY(!store.rename(7, "C"));
        QVERIFY(store.rename(1, "C"));
        QVERIFY(store.rename(1, "c")); // its own, in other letters
        QCOMPARE(store.own()[1].name, QStringLiteral("c"));
    }
    void whatWasRemovedComesBackAtItsPlace()
    {
        ArrangementStore store;
        for (const char *name : { "A", "B", "C" })
            store.save(name, {});
        store.remove(1);
        QVERIFY(!store.find("B"));
        QCOMPARE(ArrangementStore().own().size(), std::size_t(2));
        store.restoreRemoved();
        QCOMPARE(store.own()[1].name, QStringLiteral("B"));
        QVERIFY(!store.canRestore());
    }
    void settingsThatWereDamagedAreLeftOut()
    {
        const auto refused = [](QJsonObject json, const char *key, const QJsonValue &value) {
            json[QLatin1String(key)] = value;
            return !arrangementFrom(json);
        };
        const QJsonObject good = toJson(wide());
        QVERIFY(arrangementFrom(good) == wide());
        QVERIFY(refused(good, "left", 0));
        QVERIFY(refused(good, "left", QStringLiteral("x")));
        QVERIFY(refused(good, "rows", QJsonValue()));
        QVERIFY(refused(good, "sides", 3));
        Arrangement empty = wide();
        empty.rows = { 0, 0, 0 }; // a window without a chart or a map would show nothing
        QVERIFY(!arrangementFrom(toJson(empty)));
        QSettings().setValue("window/arrangements", QByteArray("[{\"name\": \"x\"}, 3, {]"));
        QVERIFY(ArrangementStore().own().empty());
    }
    void thoseOfTheProductShareTheRoom()
    {
        QCOMPARE(builtInArrangements().size(), std::size_t(4));
        for (const NamedArrangement &one : builtInArrangements()) {
            QVERIFY(arrangementFrom(toJson(one.value)) == one.value);
            const double rows = std::accumulate(one.value.rows.begin(), one.value.rows.end(), 0.0);
            QVERIFY2(qFuzzyCompare(rows, 1.0), qPrintable(one.name));
        }
    }
};

TRAINYARD_GUILESS_TEST(ArrangementsTest)
#include "tst_arrangements.moc"
