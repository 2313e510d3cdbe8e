// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/split_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

using Pieces = std::vector<std::string_view>;

Pieces pieces(std::string_view text, char separator = ',')
{
    return splitOutside(text, separator).value_or(Pieces { "refused" });
}

} // namespace

class TstSplitText : public QObject {
    Q_OBJECT

private slots:
    void separatorsOutsideOfBracketsAndQuotesPart()
    {
        QCOMPARE(pieces("a=1,b=[2,3],c=\"x,y\""), Pieces({ "a=1", "b=[2,3]", "c=\"x,y\"" }));
        QCOMPARE(pieces("{\"k\":[1,{\"l\":2,\"m\":3}]},z"), Pieces({ "{\"k\":[1,{\"l\":2,\"m\":3}]}", "z" }));
        QCOMPARE(pieces("a;b,c", ';'), Pieces({ "a", "b,c" }));
    }

    void quotedBracketsAndQuotedQuotesAreText()
    {
        QCOMPARE(pieces("\"[\",b"), Pieces({ "\"[\"", "b" }));
        QCOMPARE(pieces("\"a\\\",b\",c"), Pieces({ "\"a\\\",b\"", "c" }));
    }

    void emptyPiecesArePieces()
    {
        QCOMPARE(pieces(""), Pieces({ "" }));
        QCOMPARE(pieces(" a , ,b\t"), Pieces({ "a", "", "b" }));
    }

    void whatIsNotClosedIsAnError()
    {
        for (const char *text : { "[1,2", "{\"a\":1", "\"a", "a]", "[1}", "\"a\\\"" })
            QVERIFY2(!splitOutside(text), text);
    }
};

TRAINYARD_GUILESS_TEST(TstSplitText)
#include "tst_split_text.moc"
