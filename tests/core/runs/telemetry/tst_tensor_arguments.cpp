// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors of operators as texts, and what of a trace becomes one.
#include "core/runs/telemetry/tensor_arguments.h"
#include "tests/core/runs/telemetry/trace_texts.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Of the one operator of a trace, as it was read with its host; "": it tells none.
std::string readOperator(const std::string &name, const std::string &arguments)
{
    SourceOptions options;
    options.keepsHostSpans = true;
    const auto recording = readText(
        "rank0.json", trace({ span("cpu_op", name, "1", "4", arguments, "1"), kernel("k", "9", "1", "5") }), options);
    for (const RecordedStream &stream : recording->ranks[0].streams)
        if (!stream.isGpu && !stream.spans.shape.empty())
            return recording->names[stream.spans.shape[0]];
    return {};
}

} // namespace

class TestTensorArguments : public QObject {
    Q_OBJECT
private slots:
    void aTextIsReadBack()
    {
        std::mt19937 random(7);
        const auto below = [&](unsigned most) { return random() % most; };
        constexpr const char *kTypes[] = { "bf16", "f32", "i64", "something else" };
        constexpr const char *kValues[] = { "", "True", "0.5", "[1, 2]", "[]", "1e-05" };
        for (int i = 0; i < 500; ++i) {
            std::vector<TensorArgument> drawn(below(6));
            for (TensorArgument &argument : drawn)
                if (below(2) == 0) {
                    argument.type = kTypes[below(4)];
                    for (unsigned d = below(4); d > 0; --d)
                        argument.sizes.push_back(below(100'000));
                } else {
                    argument.value = kValues[below(6)];
                }
            QCOMPARE(readTensorArguments(textOf(drawn)), drawn);
        }
    }

    void elementsAndBytesAreThoseOfTheType()
    {
        const auto arguments = readTensorArguments("bf16[4, 1024], f32[], True, -, f8e4m3[16], odd[3]");
        QCOMPARE(arguments.size(), std::size_t(6));
        QCOMPARE(arguments[0].bytes(), 2.0 * 4 * 1024);
        QCOMPARE(arguments[1].elements(), 1.0);
        QVERIFY(!arguments[2].isTensor() && arguments[2].value == "True");
        QVERIFY(!arguments[3].isTensor());
        QCOMPARE(arguments[4].bytes(), 16.0);
        QCOMPARE(arguments[5].bytes(), 0.0);
    }

    void operatorsOfATraceTellTheirTensors()
    {
        QCOMPARE(
            readOperator("aten::addmm",
                R"("Input Dims": [[128], [888, 2880], [2880, 128], [], []], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::Float8_e4m3fn", "Scalar", "Scalar"], "Concrete Inputs": ["", "", "", "1", "1"])"),
            std::string("bf16[128], bf16[888, 2880], f8e4m3[2880, 128], -, -"));
        // Values only where the work hangs on them
        QCOMPARE(
            readOperator("flash_attn::_flash_attn_forward",
                R"("Input Dims": [[1, 8, 2, 64], []], "Input type": ["float", "Scalar"], "Concrete Inputs": ["", "True"])"),
            std::string("f32[1, 8, 2, 64], True"));
        // Lists of tensors tell no type
        QCOMPARE(readOperator(
                     "aten::cat", R"("Input Dims": [[[4, 2], [4, 6]], [2]], "Input type": ["TensorList", "float"])"),
            std::string("-, f32[2]"));
    }

    void whatIsNoListOfSizesIsLeftOut()
    {
        QCOMPARE(readOperator("aten::mm", R"("Input Dims": [[], []], "Input type": ["Scalar", ""])"), std::string());
        QCOMPARE(readOperator("aten::mm", R"("Input Dims": "oops", "Input type": ["float"])"), std::string());
        QCOMPARE(readOperator("aten::mm", R"("Input Dims": [["a", -1]], "Input type": ["float"])"), std::string());
        QCOMPARE(readOperator("aten::mm", R"("Input Dims": [[4]], "Input type": ["a, b[3]"])"), std::string());
        QCOMPARE(readOperator("aten::mm", R"("Input Dims": [[4]])"), std::string());
        QCOMPARE(
            readOperator("aten::mm", R"("Input Dims": [[)" + std::string(3000, '1') + R"(]], "Input type": ["float"])"),
            std::string());
    }

    /// Calls that are alike share a text: 1,000 of them add one name.
    void callsThatAreAlikeShareTheirText()
    {
        std::vector<std::string> events { kernel("k", "1", "1", "5") };
        for (int i = 0; i < 1000; ++i)
            events.push_back(span("cpu_op", "aten::mm", std::to_string(10 + i), "1",
                R"("Input Dims": [[4, 2], [2, 8]], "Input type": ["float", "float"])", "1"));
        SourceOptions options;
        options.keepsHostSpans = true;
        const auto recording = readText("rank0.json", trace(events), options);
        QCOMPARE(recording->spanCount(), std::size_t(1001));
        QCOMPARE(recording->names.size(), std::size_t(3)); // kernel, operator, its tensors
        QCOMPARE(readText("rank0.json", trace(events))->names.size(), std::size_t(1)); // without the host none
    }
};

TRAINYARD_APPLESS_TEST(TestTensorArguments)
#include "tst_tensor_arguments.moc"
