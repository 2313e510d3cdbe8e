// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/parse.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/resolve_model.h"
#include "tests/support/test_program.h"

#include "tests/support/own_inputs.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace trainyard;

class HuggingFaceTest : public QObject {
    Q_OBJECT

private slots:
    void aLlamaConfigIsADenseGatedModel();
    void headsMayBeWiderThanTheHiddenSize();
    void latentAttentionIsReadWithItsRanks();
    void olderFamiliesHaveBiasesAndLearnedPositions();
    void aNestedTextConfigIsFound();
    void anUnknownTypeIsReadByTheCommonestKeysAndSaysSo();
    void faultsNameFileAndKey_data();
    void faultsNameFileAndKey();
    void hostileConfigsAreErrors();
    void realConfigsCountAsManyParametersAsPublished_data();
    void realConfigsCountAsManyParametersAsPublished();
    void realConfigsEqualTheCatalogue_data();
    void realConfigsEqualTheCatalogue();
    void aPlanNamesItsModelInThreeWays();
    void groupsOfExpertsAreRead();
    void windowsAreReadWhereTheFileSaysWhichLayersHaveThem();
};

namespace {

const std::string kFolder = TRAINYARD_SOURCE_DIR "/tests/data/hf_configs/";

ModelSpec read(const std::string &file)
{
    const auto model = readHuggingFaceConfig(kFolder + file);
    if (!model)
        qFatal("%s", toString(model.error()).c_str());
    return *model;
}

/// The keys by which Hugging Face's files tell such a model, each family by its own.
std::string configOf(const ModelSpec &m, const std::string &type)
{
    nlohmann::json config { { "model_type", type }, { "hidden_size", m.hidden }, { "num_hidden_layers", m.layers },
        { "num_attention_heads", m.heads }, { "num_key_value_heads", m.kvHeads }, { "vocab_size", m.vocab },
        { "tie_word_embeddings", m.tiedEmbeddings } };
    if (m.ffn > 0)
        config["intermediate_size"] = m.ffn;
    if (m.attention == AttentionKind::Latent)
        config.update({ { "q_lora_rank", m.latent.queryRank }, { "kv_lora_rank", m.latent.keyValueRank },
            { "qk_nope_head_dim", m.latent.nopeDim }, { "qk_rope_head_dim", m.latent.ropeDim },
            { "v_head_dim", m.latent.valueDim } });
    else if (m.headDim * m.heads != m.hidden)
        config["head_dim"] = m.headDim;
    if (!m.isMoe())
        return config.dump();
    config["num_experts_per_tok"] = m.expertsPerToken;
    if (type == "mixtral") {
        config.update({ { "num_local_experts", m.experts }, { "intermediate_size", m.expertFfn } });
    } else if (type == "llama4_text") {
        config.update({ { "num_local_experts", m.experts }, { "intermediate_size", m.expertFfn },
            { "intermediate_size_mlp", m.ffn }, { "interleave_moe_layer_step", m.expertLayerStep } });
        return nlohmann::json { { "model_type", "llama4" }, { "text_config", config } }.dump();
    } else if (type == "qwen3_moe") {
        config.update({ { "num_experts", m.experts }, { "moe_intermediate_size", m.expertFfn },
            { "decoder_sparse_step", m.expertLayerStep }, { "mlp_only_layers", nlohmann::json::array() } });
    } else {
        config.update({ { "n_routed_experts", m.experts }, { "moe_intermediate_size", m.expertFfn },
            { "n_shared_experts", m.sharedExpertFfn / m.expertFfn }, { "first_k_dense_replace", m.denseLayers } });
    }
    return config.dump();
}

} // namespace

void HuggingFaceTest::aLlamaConfigIsADenseGatedModel()
{
    const ModelSpec m = read("dense_llama.json");
    QCOMPARE(m.layers, 4);
    QCOMPARE(m.kvHeads, 2);
    QCOMPARE(m.headDim, 64);
    QVERIFY(m.gatedFfn && !m.tiedEmbeddings && !m.linearBias && !m.isMoe());
    // 2hV + h + L (2h^2 + 2h·g·d + 3hf + 2h)
    QCOMPARE(totalParameters(m),
        2.0 * 512 * 1000 + 512 + 4 * (2.0 * 512 * 512 + 2 * 512 * 128 + 3.0 * 512 * 1408 + 2 * 512));
}

void HuggingFaceTest::headsMayBeWiderThanTheHiddenSize()
{
    const ModelSpec m = read("wide_heads_qwen3_moe.json");
    QCOMPARE(m.heads * m.headDim, 2 * m.hidden);
    QCOMPARE(m.experts, 16);
    QCOMPARE(m.expertFfn, 96);
    QVERIFY(!m.isExpertLayer(0) && m.isExpertLayer(1) && m.isExpertLayer(5));
}

void HuggingFaceTest::latentAttentionIsReadWithItsRanks()
{
    const ModelSpec m = read("latent_deepseek_v3.json");
    QVERIFY(m.attention == AttentionKind::Latent);
    QVERIFY((m.latent == LatentAttention { 0, 64, 32, 16, 32 })); // a null q_lora_rank: queries are not compressed
    QCOMPARE(m.sharedExpertFfn, 2 * 128);
    QCOMPARE(m.denseLayers, 1);
    QVERIFY(!m.tiedEmbeddings);
}

void HuggingFaceTest::olderFamiliesHaveBiasesAndLearnedPositions()
{
    const ModelSpec gpt2 = read("gpt2.json");
    QCOMPARE(gpt2.ffn, 4 * 192);
    QCOMPARE(gpt2.learnedPositions, 512);
    QVERIFY(gpt2.linearBias && gpt2.layerNorm && gpt2.tiedEmbeddings && gpt2.dropout && !gpt2.gatedFfn);
    const ModelSpec opt = read("opt.json");
    QCOMPARE(opt.learnedPositions, 514);
    // the two differ in nothing else that is counted
    QCOMPARE(totalParameters(opt) - totalParameters(gpt2), 2.0 * 192);
}

void HuggingFaceTest::aNestedTextConfigIsFound()
{
    const ModelSpec m = read("nested_llama4.json");
    QCOMPARE(m.ffn, 768);
    QCOMPARE(m.sharedExpertFfn, 384);
    QVERIFY(!m.isExpertLayer(0) && m.isExpertLayer(1) && !m.isExpertLayer(2) && m.isExpertLayer(3));
}

void HuggingFaceTest::anUnknownTypeIsReadByTheCommonestKeysAndSaysSo()
{
    const ModelSpec m = read("unknown_type.json");
    QVERIFY(m.gatedFfn && m.tiedEmbeddings);
    QVERIFY(m.source.find("unknown model type zebra") != std::string::npos);
    QCOMPARE(m.doubts.size(), std::size_t(1));
    QVERIFY(m.doubts.front().key == "model_type" && !m.doubts.front().isBlocking);
}

void HuggingFaceTest::faultsNameFileAndKey_data()
{
    QTest::addColumn<QString>("message");
    QTest::newRow("negative_layers.json")
        << ": /num_hidden_layers: num_hidden_layers is -3; expected a whole number from 1 to 10000";
    QTest::newRow("huge_nested.json")
        << ": /text_config/hidden_size: hidden_size is 1e+30; expected a whole number from 1 to 1000000";
    QTest::newRow("no_vocabulary.json") << ": /vocab_size: vocab_size is missing; expected the size of the vocabulary";
    QTest::newRow("truncated.json") << ":3:1: not valid JSON: syntax error while parsing value - unexpected end of "
                                       "input; expected '[', '{', or a literal; expected a JSON file";
    QTest::newRow("absent.json") << ": No such file or directory; expected a Hugging Face config.json";
}

void HuggingFaceTest::faultsNameFileAndKey()
{
    QFETCH(QString, message);
    const std::string path = kFolder + QTest::currentDataTag();
    const auto model = readHuggingFaceConfig(path);
    QVERIFY(!model.has_value());
    QCOMPARE(QString::fromStdString(toString(model.error())), QString::fromStdString(path) + message);
}

void HuggingFaceTest::hostileConfigsAreErrors()
{
    const auto error = [](const std::string &json) {
        return toString(parseHuggingFaceConfig(json, "config.json").error());
    };
    // 60,000 levels, as lists and as objects: copies and destructors of a document recurse.
    std::string objects;
    for (int i = 0; i < 60'000; ++i)
        objects += "{\"a\":";
    for (const std::string &deep :
        { std::string(60'000, '[') + std::string(60'000, ']'), objects + "0" + std::string(60'000, '}') }) {
        const std::string told = error("{\"num_hidden_layers\": " + deep + "}");
        QVERIFY2(told.starts_with("config.json: /")
                && told.find("nested too deeply; expected at most 64 levels") != std::string::npos,
            told.c_str());
    }
    QVERIFY2(error(R"({"num_hidden_layers": 1e400})").starts_with("config.json:1:27: not valid JSON: number overflow"),
        error(R"({"num_hidden_layers": 1e400})").c_str());
    QVERIFY(error("\xff{}").starts_with("config.json:1:1: "));
    for (const auto &[python, json] :
        { std::pair("True", "true"), std::pair("False", "false"), std::pair("None", "null") }) {
        const std::string told = error(std::string("{\"use_cache\": ") + python + "}");
        QVERIFY2(told.find(std::string("expected ") + json) != std::string::npos
                && told.find(std::string(python) + " is Python's") != std::string::npos,
            told.c_str());
    }
    QVERIFY(error("{\"use_cache\": Tree}").find("Python") == std::string::npos);
    // 1,000 experts of 10,000,000 are more than an int holds.
    const std::string shared = error(
        R"({"num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100, "num_attention_heads": 4, "num_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": 10000000, "n_shared_experts": 1000})");
    QVERIFY2(shared.find("/n_shared_experts") != std::string::npos && shared.find("10000000000") != std::string::npos,
        shared.c_str());
    // A value is quoted as far as it helps.
    QVERIFY(error("{\"num_hidden_layers\": \"" + std::string(1'000'000, 'x') + "\"}").size() < 300);
}

void HuggingFaceTest::realConfigsCountAsManyParametersAsPublished_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<double>("billions");
    QTest::addColumn<double>("within");
    // Of ours, by docs/model.md: 2hV + h, and per layer attention, MLP or experts with their router, and norms
    const double h = 1024, ends = 2 * h * 32000 + h;
    const double dense = ends + 12 * (2 * h * h + 2 * h * 4 * 64 + 3 * h * 2816 + 2 * h);
    const double experts = ends + 8 * (2 * h * 16 * 128 + 2 * h * 4 * 128 + 16 * h + 16 * 3 * h * 512 + 2 * h);
    const double attention = 384 * (h + 16 * (64 + 32)) + h * (256 + 32) + 256 * 16 * (64 + 64) + 16 * 64 * h;
    const double latent =
        ends + 6 * (attention + 2 * h + 384 + 256) + 2 * 3 * h * 4096 + 4 * (17 * 3 * h * 512 + 16 * h);
    const std::string configs = "formats/hf_configs/";
    const auto own = [&](const char *name, double parameters) {
        QTest::newRow(name) << QString::fromStdString(tests::ownInput(configs + name + "_config.json"))
                            << parameters / 1e9 << 1e-12;
    };
    own("lab--Small-Dense", dense);
    own("lab--Small-Experts", experts);
    own("lab--Small-Latent", latent);
    const auto add = [&](const char *name, double billions) {
        if (const std::string path = configs + name; tests::isShared(path))
            QTest::newRow(name) << QString::fromStdString(tests::sharedInput(path)) << billions << 0.01;
    };
    add("meta-llama--Meta-Llama-3.1-8B_config.json", 8.03);
    add("meta-llama--Meta-Llama-3.1-405B_config.json", 405.85);
    add("mistralai--Mixtral-8x7B-v0.1_config.json", 46.7);
    add("Qwen--Qwen3-32B_config.json", 32.76);
    add("Qwen--Qwen3-30B-A3B_config.json", 30.53);
    add("Qwen--Qwen3-235B-A22B_config.json", 235.1);
    add("deepseek-ai--DeepSeek-V3_config.json", 671.0);
    add("deepseek-ai--DeepSeek-V3.2_config.json", 671.0);
    add("moonshotai--Kimi-K2-Instruct_config.json", 1026.0);
    add("meta-llama--Llama-4-Maverick-17B-128E-Instruct_config.json", 400.7);
    add("Qwen--Qwen3.5-397B-A17B_config.json", 397.0); // of which 2.8 B are said to be missing
}

void HuggingFaceTest::realConfigsCountAsManyParametersAsPublished()
{
    QFETCH(QString, path);
    QFETCH(double, billions);
    QFETCH(double, within);
    const auto model = readHuggingFaceConfig(path.toStdString());
    QVERIFY2(model.has_value(), model ? "" : toString(model.error()).c_str());
    const double counted = totalParameters(*model) / 1e9;
    QVERIFY2(std::abs(counted - billions) < within * billions, qPrintable(QString::number(counted)));
}

void HuggingFaceTest::realConfigsEqualTheCatalogue_data()
{
    QTest::addColumn<QString>("path"); // empty: as we write it
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("type");
    const auto add = [](const char *name, const char *id, const char *type) {
        QTest::addRow("%s, written", id) << QString() << id << type;
        const std::string path = std::string("formats/hf_configs/") + name + "_config.json";
        if (tests::isShared(path))
            QTest::newRow(name) << QString::fromStdString(tests::sharedInput(path)) << id << type;
    };
    add("meta-llama--Meta-Llama-3.1-8B", "llama-3.1-8b", "llama");
    add("meta-llama--Meta-Llama-3.1-405B", "llama-3.1-405b", "llama");
    add("mistralai--Mixtral-8x7B-v0.1", "mixtral-8x7b", "mixtral");
    add("Qwen--Qwen3-32B", "qwen3-32b", "qwen3");
    add("Qwen--Qwen3-30B-A3B", "qwen3-30b-a3b", "qwen3_moe");
    add("Qwen--Qwen3-235B-A22B", "qwen3-235b-a22b", "qwen3_moe");
    add("deepseek-ai--DeepSeek-V3", "deepseek-v3", "deepseek_v3");
    add("moonshotai--Kimi-K2-Instruct", "kimi-k2", "kimi_k2");
    add("meta-llama--Llama-4-Maverick-17B-128E-Instruct", "llama-4-maverick", "llama4_text");
}

void HuggingFaceTest::realConfigsEqualTheCatalogue()
{
    QFETCH(QString, path);
    QFETCH(QString, id);
    QFETCH(QString, type);
    const ModelSpec *fromCatalogue = builtinCatalogue().model(id.toStdString());
    QVERIFY(fromCatalogue);
    const auto fromFile = path.isEmpty()
        ? parseHuggingFaceConfig(configOf(*fromCatalogue, type.toStdString()), "config.json")
        : readHuggingFaceConfig(path.toStdString());
    QVERIFY(fromFile.has_value());
    const double s = 4096;
    QCOMPARE(totalParameters(*fromFile), totalParameters(*fromCatalogue));
    QCOMPARE(activeParameters(*fromFile), activeParameters(*fromCatalogue));
    QCOMPARE(modelFlopsPerSequence(*fromFile, s), modelFlopsPerSequence(*fromCatalogue, s));
    // and as many as its authors state, rounded
    QVERIFY(std::abs(totalParameters(*fromFile) / fromCatalogue->publishedParameters - 1) < 0.01);
}

void HuggingFaceTest::aPlanNamesItsModelInThreeWays()
{
    WorkloadSpec workload;
    workload.model = "llama-3-70b";
    QCOMPARE(resolveModel(workload, {}, builtinCatalogue())->layers, 80);
    workload.model = "hf_configs/gpt2.json";
    QCOMPARE(resolveModel(workload, TRAINYARD_SOURCE_DIR "/tests/data", builtinCatalogue())->layers, 3);
    workload.model = "lama-3-70b";
    const auto unknown = resolveModel(workload, {}, builtinCatalogue());
    QCOMPARE(toString(unknown.error()),
        "workload.model: there is no model \"lama-3-70b\"; expected a catalogue name, perhaps "
        "\"llama-3-70b\", or the path of a config.json");
    workload.inlineModel.emplace();
    workload.inlineModel->layers = 7;
    QCOMPARE(resolveModel(workload, {}, builtinCatalogue())->layers, 7);
}

void HuggingFaceTest::groupsOfExpertsAreRead()
{
    // a token visits four of eight groups; one group of one is no choice
    const auto groups = [](const char *keys) {
        const auto model = parseHuggingFaceConfig(
            std::string(R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "hidden_size": 64, "vocab_size": 128,
                "num_attention_heads": 4, "n_routed_experts": 16, "num_experts_per_tok": 2,
                "moe_intermediate_size": 32, )")
                + keys + "}",
            "config.json");
        return std::pair(model->groups, model->topGroups);
    };
    QCOMPARE(groups(R"("n_group": 8, "topk_group": 4)"), std::pair(8, 4));
    QCOMPARE(groups(R"("n_group": 1, "topk_group": 1)"), std::pair(0, 0));
    QCOMPARE(builtinCatalogue().model("deepseek-v3")->groups, 8);
    QCOMPARE(builtinCatalogue().model("deepseek-v3")->topGroups, 4);
    QCOMPARE(builtinCatalogue().model("deepseek-v2")->topGroups, 3);
    QCOMPARE(builtinCatalogue().model("kimi-k2")->groups, 0);
}

void HuggingFaceTest::windowsAreReadWhereTheFileSaysWhichLayersHaveThem()
{
    const auto windows = [](const char *keys) {
        const auto model = parseHuggingFaceConfig(
            std::string(R"({"model_type": "gpt_oss", "num_hidden_layers": 4, "hidden_size": 64, "vocab_size": 128,
                "num_attention_heads": 4, "intermediate_size": 32, )")
                + keys + "}",
            "config.json");
        return std::pair(model->attentionWindow, model->windowedLayers);
    };
    QCOMPARE(windows(R"("sliding_window": 128, "layer_types": ["sliding_attention", "full_attention",
        "sliding_attention", "full_attention"])"),
        std::pair(128, 2));
    QCOMPARE(windows(R"("sliding_window": 4096)"), std::pair(4096, 2)); // the family's habit: every second layer
    QCOMPARE(windows(R"("sliding_window": 4096, "use_sliding_window": false)"), std::pair(0, 0));
    QCOMPARE(windows(R"("sliding_window": 128, "layer_types": ["full_attention"])"), std::pair(0, 0));
}

TRAINYARD_APPLESS_TEST(HuggingFaceTest)
#include "tst_hugging_face.moc"
