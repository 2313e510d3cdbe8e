// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/workload/model_math.h"
#include "tests/support/catalogued.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using test::model;

class ParametersTest : public QObject {
    Q_OBJECT

private slots:
    void everyModelCountsAsManyParametersAsItsAuthorsState();
    void aClassicLayerHasTwelveSquaresAndThirteenVectors();
    void expertModelsCountAsRecomputedElsewhere_data();
    void expertModelsCountAsRecomputedElsewhere();
    void aPredictingLayerOfDeepSeekV3HasElevenBillion();
    void narayanansModelsFollowTheirFormula();
    void everyDenseModelOfTheContractIsThere();
};

namespace {

/// Half a unit of the last digit that was published: 0.05e9 for 1.3e9.
double roundingOf(double published)
{
    double unit = std::pow(10, std::floor(std::log10(published)));
    while (std::abs(published / unit - std::round(published / unit)) > 1e-6)
        unit /= 10;
    // trailing zeros of "30 B" are digits: no one publishes one digit alone
    return std::min(unit, std::pow(10, std::floor(std::log10(published)) - 1)) / 2;
}

} // namespace

void ParametersTest::everyModelCountsAsManyParametersAsItsAuthorsState()
{
    int compared = 0;
    for (const ModelSpec &spec : builtinCatalogue().models) {
        if (spec.publishedParameters <= 0)
            continue;
        const double error = std::abs(totalParameters(spec) - spec.publishedParameters);
        const double allowed = std::max(0.01 * spec.publishedParameters, roundingOf(spec.publishedParameters));
        QVERIFY2(error <= allowed,
            qPrintable(QString("%1: %2 against %3")
                           .arg(spec.id.c_str())
                           .arg(totalParameters(spec))
                           .arg(spec.publishedParameters)));
        ++compared;
    }
    QVERIFY(compared >= 60);
}

void ParametersTest::aClassicLayerHasTwelveSquaresAndThirteenVectors()
{
    // GPT: QKV 3h^2+3h, projection h^2+h, MLP 8h^2+5h, two norms 4h: 12h^2 + 13h
    const ModelSpec &gpt = model("gpt-3-175b");
    const double h = gpt.hidden;
    QCOMPARE(layerParameters(gpt, false).total(), 12 * h * h + 13 * h);
}

void ParametersTest::expertModelsCountAsRecomputedElsewhere_data()
{
    QTest::addColumn<double>("total");
    QTest::addColumn<double>("active");
    QTest::addColumn<double>("digit");
    // in 10^9, with the rounding of the table
    QTest::newRow("mixtral-8x7b") << 46.70 << 12.88 << 0.005;
    QTest::newRow("mixtral-8x22b") << 140.6 << 39.2 << 0.05;
    QTest::newRow("mixtral-8x22b-g8t8") << 140.6 << 22.3 << 0.05;
    QTest::newRow("deepseek-v2-lite") << 15.71 << 2.66 << 0.005;
    QTest::newRow("deepseek-v2") << 235.7 << 21.4 << 0.05;
    QTest::newRow("deepseek-v3") << 671.0 << 37.6 << 0.05;
    QTest::newRow("kimi-k2") << 1026.0 << 32.9 << 0.5;
    QTest::newRow("qwen1.5-moe-a2.7b") << 14.3 << 2.7 << 0.05;
    QTest::newRow("qwen2-57b-a14b") << 57.4 << 14.3 << 0.05;
    QTest::newRow("qwen3-30b-a3b") << 30.5 << 3.35 << 0.05;
    QTest::newRow("qwen3-235b-a22b") << 235.1 << 22.2 << 0.05;
    QTest::newRow("dbrx") << 131.6 << 36.5 << 0.05;
    QTest::newRow("grok-1") << 315.7 << 83.8 << 0.05;
    QTest::newRow("llama-4-scout") << 107.8 << 17.2 << 0.05;
    QTest::newRow("llama-4-maverick") << 400.7 << 17.2 << 0.05;
    QTest::newRow("gpt-oss-20b") << 20.9 << 3.6 << 0.05;
    QTest::newRow("gpt-oss-120b") << 116.8 << 5.1 << 0.05;
    QTest::newRow("qwen3-next-80b-a3b") << 79.04 << 3.24 << 0.005; // all layers as grouped attention
}

void ParametersTest::expertModelsCountAsRecomputedElsewhere()
{
    QFETCH(double, total);
    QFETCH(double, active);
    QFETCH(double, digit);
    const ModelSpec &spec = model(QTest::currentDataTag());
    QVERIFY(std::abs(totalParameters(spec) / 1e9 - total) <= 1.001 * digit);
    // the gpt-oss authors leave the input embedding out of the active count
    const bool withoutEmbedding = QByteArray(QTest::currentDataTag()).startsWith("gpt-oss");
    const double counted = activeParameters(spec) - (withoutEmbedding ? embeddingParameters(spec) : 0);
    QVERIFY(std::abs(counted / 1e9 - active) <= 0.06);
}

void ParametersTest::aPredictingLayerOfDeepSeekV3HasElevenBillion()
{
    // a layer with experts, 2h x h, three norms; table and output matrix are the model's
    const ModelSpec &v3 = model("deepseek-v3");
    QCOMPARE(v3.mtpLayers, 0); // 671 B are without
    ModelSpec with = v3;
    with.mtpLayers = 1;
    const double more = totalParameters(with) - totalParameters(v3), h = v3.hidden;
    QVERIFY2(std::abs(more / 1e9 - 11.6) < 0.05, qPrintable(QString::number(more / 1e9)));
    QCOMPARE(more, layerParameters(v3, true).total() + 2 * h * h + 3 * h);
    const double idle = layerParameters(v3, true).experts * (1 - 8 / 256.0);
    QVERIFY(std::abs(activeParameters(with) - activeParameters(v3) - (more - idle)) < 1);
}

void ParametersTest::narayanansModelsFollowTheirFormula()
{
    // Narayanan et al., eq. 2: P = 12 l h^2 (1 + 13/12h + (V + s)/12lh); the final norm's 2h is ours
    for (const char *id : { "megatron-1.7b", "megatron-3.6b", "megatron-7.5b", "megatron-18b", "megatron-39b",
             "megatron-76b", "megatron-145b", "megatron-310b", "megatron-530b", "megatron-1t" }) {
        const ModelSpec &m = model(id);
        const double l = m.layers, h = m.hidden, v = m.vocab, s = 2048;
        const double formula = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h));
        QVERIFY2(std::abs(totalParameters(m) - formula - 2 * h) < 1e-9 * formula, id);
    }
}

void ParametersTest::everyDenseModelOfTheContractIsThere()
{
    for (const char *id :
        { "gpt-3-1.3b", "gpt-3-2.7b", "gpt-3-6.7b", "gpt-3-13b", "gpt-3-175b", "megatron-530b", "megatron-1t",
            "opt-350m", "opt-175b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b",
            "llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "mistral-7b", "qwen2-7b", "qwen2.5-32b", "qwen3-32b" })
        QVERIFY2(builtinCatalogue().model(id), id);
}

TRAINYARD_APPLESS_TEST(ParametersTest)
#include "tst_parameters.moc"
