// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/shared_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

class TestSharedText : public QObject {
    Q_OBJECT

private slots:
    void copiesAreTheSameBytes()
    {
        const SharedText one(std::string(1'000, 'x'));
        const SharedText copy = one; // NOLINT(performance-unnecessary-copy-initialization)
        QVERIFY(copy.isOneWith(one));
        QCOMPARE(copy.text().data(), one.text().data());
    }

    void equalTextsAreEqualWhereverTheyLie()
    {
        const SharedText one(std::string("node7")), other("node7");
        QVERIFY(one == other && !one.isOneWith(other));
        QVERIFY(one == "node7" && "node7" == one && one == std::string("node7") && one == std::string_view("node7"));
        QVERIFY(one != SharedText("node8") && one < SharedText("node8"));
        QVERIFY(SharedText().empty() && SharedText() == SharedText("") && SharedText("") == "");
        QCOMPARE(SharedText().size(), std::size_t(0));
    }

    void aTableMakesEqualTextsOne()
    {
        SharedTexts texts;
        const std::string name(1'000, 'x');
        const SharedText first = texts(name);
        for (int i = 0; i < 1'000; ++i)
            QVERIFY(texts(std::string(1'000, 'x')).isOneWith(first));
        QVERIFY(texts(SharedText(name)).isOneWith(first));
        QVERIFY(!texts("another").isOneWith(first));
    }

    void aTableCountsEachTextOnce()
    {
        SharedTexts texts;
        const std::string name(1'000, 'x');
        const std::size_t bytes = texts.bytesFor(name);
        QVERIFY(bytes >= name.size());
        (void)texts(name);
        QCOMPARE(texts.bytes(), bytes);
        QCOMPARE(texts.bytesFor(name), std::size_t(0));
        (void)texts(name);
        QCOMPARE(texts.bytes(), bytes);
    }

    void aTextOutlivesItsTable()
    {
        SharedText text;
        {
            SharedTexts texts;
            text = texts("node000/gpu3");
        }
        QCOMPARE(text.text(), std::string("node000/gpu3"));
    }
};

TRAINYARD_APPLESS_TEST(TestSharedText)
#include "tst_shared_text.moc"
