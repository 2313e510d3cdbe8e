// SPDX-License-Identifier: GPL-3.0-or-later
// What a person may expect of the search by name: which of two fits better, and what counts as fitting at all.
#include "models/names/name_index.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace trainyard;

class NameIndexTest : public QObject {
    Q_OBJECT

    static NamedThing thing(const QString &name, ThingKind kind = ThingKind::Datacenter, const QString &alias = {})
    {
        return { kind, QStringLiteral("Thing"), name, {}, alias, {} };
    }
    static QStringList found(const NameIndex &index, const QString &typed, int most = 50)
    {
        QStringList names;
        for (const NamedThing &one : index.find(typed, most).things)
            names << one.name;
        return names;
    }
    static NameIndex of(const QStringList &names)
    {
        NameIndex index;
        for (const QString &name : names)
            index.add(thing(name));
        return index;
    }

private slots:
    void theBeginningOfAWordBeatsTheMiddleOfOne()
    {
        QCOMPARE(found(of({ "Preview", "New view" }), "view"), (QStringList { "New view", "Preview" }));
    }
    void aWholeWordBeatsTheBeginningOfOne()
    {
        QCOMPARE(found(of({ "Oregonia", "West Oregon" }), "oregon"), (QStringList { "West Oregon", "Oregonia" }));
    }
    void amongEqualsTheNameThatBeginsWithItComesFirstThenTheShorterOne()
    {
        QCOMPARE(found(of({ "West Ohio", "Ohio Valley", "Ohio" }), "ohio"),
            (QStringList { "Ohio", "Ohio Valley", "West Ohio" }));
    }
    void everyWordMustBeFoundInAnyOrder()
    {
        const NameIndex index = of({ "Oregon – Virginia", "Ohio – Virginia", "Oregon" });
        QCOMPARE(found(index, "virginia - oregon"), QStringList { "Oregon – Virginia" });
        QCOMPARE(found(index, "oregon - virg"), QStringList { "Oregon – Virginia" });
        QVERIFY(found(index, "oregon texas").isEmpty());
    }
    void accentsCaseAndPunctuationDoNotCount()
    {
        QCOMPARE(found(of({ "São Paulo" }), "SAO pau"), QStringList { "São Paulo" });
        NameIndex index;
        index.add(thing("Tensor", ThingKind::Key, "parallelism.tensor"));
        index.add(thing("Recompute", ThingKind::Key, "memory.recompute"));
        QCOMPARE(found(index, "parallelism.tensor"), QStringList { "Tensor" });
        QCOMPARE(found(index, "memory.re"), QStringList { "Recompute" });
    }
    void theNameBeatsFurtherWordsAndTheseBeatTheGroup()
    {
        NameIndex index;
        index.add(NamedThing { ThingKind::Link, "Memory", "C" });
        index.add(thing("B", ThingKind::Key, "memory.recompute"));
        index.add(thing("Memory breakdown"));
        QCOMPARE(found(index, "memory"), (QStringList { "Memory breakdown", "B", "C" }));
    }
    void beginningsOfWordsRunTogetherFollowWhereFewWordsFit()
    {
        const NameIndex index = of({ "Zoom in", "Blitzing", "Zinc" });
        QCOMPARE(found(index, "zi"), (QStringList { "Zinc", "Blitzing", "Zoom in" }));
        QCOMPARE(found(index, "zoin"), QStringList { "Zoom in" });
        QVERIFY(found(index, "qq").isEmpty());
        QVERIFY(found(of({ "Export a Megatron launch script" }), "oregon").isEmpty()); // letters here and there
        QCOMPARE(found(of({ "Pin as baseline" }), "pab"), QStringList { "Pin as baseline" });
    }
    void nothingTypedListsTheCommandsAsTheyCame()
    {
        NameIndex index;
        index.add(thing("Zebra", ThingKind::Command));
        index.add(thing("Oregon"));
        index.add(thing("Apple", ThingKind::Command));
        QCOMPARE(found(index, " - "), (QStringList { "Zebra", "Apple" }));
    }
    void aNumberIsFoundFirstThenThoseThatBeginWithItsDigits()
    {
        NameIndex index;
        index.add(NumberedThings { ThingKind::Rank, "Rank", "Rank %1", {}, {}, 200, 0, {} });
        QStringList expected { "Rank 1" };
        for (int number = 10; number < 20; ++number)
            expected << QStringLiteral("Rank %1").arg(number);
        for (int number = 100; number < 200; ++number)
            expected << QStringLiteral("Rank %1").arg(number);
        QCOMPARE(found(index, "rank 1", 200), expected);
        QCOMPARE(found(index, "ra 199"), QStringList { "Rank 199" });
        QVERIFY(found(index, "rank 200").isEmpty());
        const FoundThings some = index.find("rank 1", 20);
        QCOMPARE(some.things.size(), std::size_t(20));
        QCOMPARE(some.more, int(expected.size()) - 20);
        QCOMPARE(index.find("rank 12", 5).things.front().number, 12);
    }
    void stagesAreTypedAsTheyAreShown()
    {
        NameIndex index;
        index.add(NumberedThings { ThingKind::Stage, "Stage", "Stage %1", {}, {}, 8, 1, {} });
        QCOMPARE(index.find("stage 8", 5).things.front().number, 7);
        QVERIFY(found(index, "stage 0").isEmpty());
        QVERIFY(found(index, "stage 9").isEmpty());
    }
    void nodesOfEachPlaceAreToldByWhatTypedWordsSayOfIt()
    {
        NameIndex index;
        for (const char *place : { "Oregon H100", "Ohio A100" })
            index.add(NumberedThings { ThingKind::Node, "Node", "Node %1", place, place, 32, 1, {} });
        const auto nodes = index.find("node 12 ohio", 50).things;
        QCOMPARE(nodes.size(), std::size_t(1));
        QCOMPARE(nodes.front().id, QStringLiteral("Ohio A100"));
        QCOMPARE(nodes.front().number, 11);
        QCOMPARE(index.find("node 12", 50).things.size(), std::size_t(2));
        QVERIFY(index.find("12", 50).things.empty()); // a number alone is no node: there would be one in each place
    }
    /// What is cut off is never better than what is shown: the first of many are those of all of them, sorted.
    void theFirstOfManyAreTheBestOfAll()
    {
        std::mt19937 random(7);
        const QStringList parts { "ore", "gon", "vir", "ginia", "oh", "io" };
        for (int round = 0; round < 40; ++round) {
            NameIndex index;
            for (int i = 0; i < 120; ++i) {
                QString name;
                for (int part = 0; part < 3; ++part)
                    name += parts[qsizetype(random() % 6)] + (random() % 3 == 0 ? QStringLiteral(" ") : QString());
                index.add(thing(name.simplified()));
            }
            const QString typed = parts[qsizetype(random() % 6)];
            const FoundThings all = index.find(typed, 1000), first = index.find(typed, 15);
            QVERIFY(first.things.size() <= 15);
            QVERIFY(std::equal(first.things.begin(), first.things.end(), all.things.begin()));
            QCOMPARE(int(first.things.size()) + first.more, int(all.things.size()));
        }
    }
};

TRAINYARD_APPLESS_TEST(NameIndexTest)
#include "tst_name_index.moc"
