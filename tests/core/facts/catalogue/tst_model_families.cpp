// SPDX-License-Identifier: GPL-3.0-or-later
// Public families of models as their config.json tell them: parameters against published weight files, and refusals.
#include "core/facts/catalogue/parse.h"
#include "core/facts/workload/model_math.h"
#include "tests/support/own_inputs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <set>

using namespace trainyard;

using Json = nlohmann::json;

class ModelFamiliesTest : public QObject {
    Q_OBJECT

private slots:
    void familiesCountAsManyParametersAsTheirWeightFiles_data();
    void familiesCountAsManyParametersAsTheirWeightFiles();
    void aTokenLeavesOutTheExpertsThatItDoesNotVisit();
    void otherLayersAreRefusedWithTheirKey_data();
    void otherLayersAreRefusedWithTheirKey();
    void aHybridsRefusalSaysHowManyParametersItHas();
    void anUnknownKeyIsADoubtOfEveryFamily();
    void keysThatChangeNothingAreNoDoubt();
    void anUnknownFamilyWithAnUnknownShapeIsRefused();
    void whatLiesBesideAConfigIsNamed();
    void expertsAreReadInEveryDialect_data();
    void expertsAreReadInEveryDialect();
    void widthsByLayerAreOneWidthOnlyWhereTheyAreEqual();
    void pythonsNumbersAreNoReasonToRefuse();
    void aLanguageModelIsFoundUnderEveryName_data();
    void aLanguageModelIsFoundUnderEveryName();
    void towersAreNamedWithTheirShare();
    void linearAttentionSaysHowFarOffItIs();
    void defaultsOfAFamilyStandWhereItsFilesLeaveThemOut();
    void doubtsGoIntoAModelsTextAndOutOfIt();
};

namespace {

const Json &families()
{
    static const Json all = [] {
        std::ifstream file(tests::ownInput("model_families/published_totals.json"));
        return Json::parse(file)["families"];
    }();
    return all;
}

ModelSpec readConfig(const Json &config)
{
    const auto model = parseHuggingFaceConfig(config.dump(), "config.json");
    if (!model)
        qFatal("%s", toString(model.error()).c_str());
    return *model;
}

std::string doubtsText(const ModelSpec &model)
{
    std::string text;
    for (const Doubt &doubt : model.doubts)
        text += (doubt.isBlocking ? "[blocking] " : "") + toString(doubt) + "\n";
    return text;
}

/// A dense model of the commonest keys.
Json plainConfig(const char *type)
{
    return { { "model_type", type }, { "num_hidden_layers", 8 }, { "hidden_size", 64 }, { "num_attention_heads", 4 },
        { "num_key_value_heads", 2 }, { "intermediate_size", 256 }, { "vocab_size", 1000 }, { "hidden_act", "silu" },
        { "tie_word_embeddings", false } };
}

Json withKeys(Json config, const Json &keys)
{
    config.update(keys);
    return config;
}

} // namespace

void ModelFamiliesTest::familiesCountAsManyParametersAsTheirWeightFiles_data()
{
    QTest::addColumn<int>("index");
    std::set<std::string> types;
    for (std::size_t i = 0; i < families().size(); ++i) {
        QTest::newRow(families()[i]["name"].get<std::string>().c_str()) << int(i);
        types.insert(families()[i]["config"]["model_type"].get<std::string>());
    }
    QVERIFY2(types.size() >= 45, qPrintable(QString::number(types.size())));
}

void ModelFamiliesTest::familiesCountAsManyParametersAsTheirWeightFiles()
{
    QFETCH(int, index);
    const Json &row = families()[std::size_t(index)];
    const ModelSpec model = readConfig(row["config"]);
    const double published = row["published"].get<double>(), counted = totalParameters(model);
    // norms of heads, sinks of attention and biases of routers are left out: 0.05 %
    const double within = row.value("rounded", false) ? 0.005 : 0.0005;
    QVERIFY2(std::abs(counted / published - 1) < within, qPrintable(QString::number(counted, 'f', 0)));
    QVERIFY2(model.doubts.empty(), doubtsText(model).c_str());
}

void ModelFamiliesTest::aTokenLeavesOutTheExpertsThatItDoesNotVisit()
{
    // all but (E - k) gated experts, 3 h f each, in the layers that have them: numbers of the files alone
    const auto check = [](const char *name, double layers, double idle, double hidden, double width) {
        const auto row = std::ranges::find_if(families(), [&](const Json &one) { return one["name"] == name; });
        QVERIFY(row != families().end());
        const double expected = (*row)["published"].get<double>() - layers * idle * 3 * hidden * width;
        QVERIFY2(std::abs(activeParameters(readConfig((*row)["config"])) / expected - 1) < 0.005, name);
    };
    check("Mixtral-8x22B-v0.1", 56, 6, 6144, 16384);
    check("Qwen3-30B-A3B", 48, 120, 2048, 768);
    check("DeepSeek-V3", 58, 248, 7168, 2048);
    check("Kimi-K2", 60, 376, 7168, 2048);
    check("ERNIE-4.5-21B-A3B", 27, 58, 2560, 1536);
    check("Hunyuan-A13B", 32, 56, 4096, 3072);
    check("GLM-4.5-Air", 45, 120, 4096, 1408);
    check("Granite-3.1-3B-A800M", 32, 32, 1536, 512);
    check("OLMoE-1B-7B", 16, 56, 2048, 1024);
    check("Ling-mini-2.0", 19, 248, 2048, 512);
    check("gpt-oss-20b", 24, 28, 2880, 2880);
    check("DBRX", 40, 12, 6144, 10752);
}

void ModelFamiliesTest::otherLayersAreRefusedWithTheirKey_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("keys");
    QTest::addColumn<QString>("named");
    const auto add = [](const char *type, const char *keys, const char *named) {
        QTest::addRow("%s: %s", type, named) << QString(type) << QString(keys) << QString(named);
    };
    // Under the family's name, and under one that nobody knows: the keys are enough.
    for (const char *type : { "nemotron_h", "llama", "zebra" })
        add(type, R"({"hybrid_override_pattern": "MEME*MEM"})",
            "hybrid_override_pattern: 4 mamba, 3 experts alone, 1 attention alone");
    for (const char *type : { "granitemoehybrid", "zebra" })
        add(type, R"({"layer_types": ["mamba","mamba","mamba","attention","mamba","mamba","mamba","attention"]})",
            "layer_types: 6 mamba, 2 attention");
    for (const char *type : { "jamba", "zebra" })
        add(type, R"({"attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16})", "attn_layer_period");
    for (const char *type : { "nemotron-nas", "zebra" })
        add(type, R"({"block_configs": [{"attention": {"n_heads_in_group": 8}}]})", "block_configs");
    for (const char *type : { "lfm2", "zebra" })
        add(type, R"({"layer_types": ["conv","conv","full_attention","conv","conv","full_attention","conv","conv"]})",
            "conv");
    add("zebra", R"({"ssm_state_size": 128})", "ssm_state_size");
    add("zebra", R"({"linear_attn_config": {"kda_layers": [1, 2]}})", "linear_attn_config");
    add("zebra", R"({"layer_types": ["linear_attention","linear_attention","linear_attention","full_attention",
        "linear_attention","linear_attention","linear_attention","full_attention"]})",
        "6 linear_attention");
    add("qwen3", R"({"layer_types": ["full_attention", "full_attention"]})", "it lists 2 of 8 layers");
    add("deepseek_v4", R"({"compress_ratios": [0, 4, 128, 4]})", "model_type");
    add("zebra", R"({"compress_ratios": [0, 4, 128, 4], "hc_mult": 4})", "compress_ratios");
    add("zebra", R"({"global_head_dim": 512})", "global_head_dim");
    add("zebra", R"({"num_kv_shared_layers": 4})", "num_kv_shared_layers");
    add("zebra", R"({"cross_attention_layers": [3, 7]})", "cross_attention_layers");
    add("llama", R"({"add_cross_attention": true})", "add_cross_attention");
    // a count of layers, heads or experts is of the shape, whatever else its key speaks of
    add("zebra", R"({"kv_cache_share_layers": 4})", "kv_cache_share_layers");
    add("zebra", R"({"ffn_config": {"moe_num_experts": 8}})", "ffn_config");
    add("zebra", R"({"attn_config": {"kv_n_heads": 1}})", "attn_config");
    add("llama", R"({"intermediate_size": [256, 256, 128, 256, 256, 256, 256, 256]})", "intermediate_size: it differs");
    add("llama", R"({"num_key_value_heads": [2, 2, 1, 2, 2, 2, 2, 2]})", "num_key_value_heads: it differs");
    add("llama", R"({"n_expert_total": 16, "num_experts_per_tok": 2})", "num_experts_per_tok");
    add("qwen3_moe",
        R"({"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "mlp_only_layers": [3]})",
        "mlp_only_layers");
    add("qwen3_moe",
        R"({"num_experts": 8, "moe_num_experts": 16, "num_experts_per_tok": 2, "moe_intermediate_size": 64})",
        "moe_num_experts: it says 16 where num_experts says 8");
    for (const char *type : { "mamba2", "rwkv", "falcon_h1", "zamba2", "recurrent_gemma", "gemma3n_text", "gemma4_text",
             "openelm", "longcat_flash", "step3p5", "minimax", "kimi_linear", "jetmoe", "bert" })
        add(type, "{}", "model_type");
}

void ModelFamiliesTest::otherLayersAreRefusedWithTheirKey()
{
    QFETCH(QString, type);
    QFETCH(QString, keys);
    QFETCH(QString, named);
    const ModelSpec model =
        readConfig(withKeys(plainConfig(type.toUtf8().constData()), Json::parse(keys.toStdString())));
    const bool isNamed = std::ranges::any_of(model.doubts, [&](const Doubt &doubt) {
        return doubt.isBlocking && toString(doubt).find(named.toStdString()) != std::string::npos;
    });
    QVERIFY2(isNamed, doubtsText(model).c_str());
}

void ModelFamiliesTest::aHybridsRefusalSaysHowManyParametersItHas()
{
    const auto says = [](const Json &config, const char *parameters) {
        const std::string text = doubtsText(readConfig(config));
        QVERIFY2(
            text.find(std::string("about ") + parameters + " M parameters in all") != std::string::npos, text.c_str());
    };
    // as published: 31.6 B and 51.6 B (51,570,323,328)
    std::string pattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME";
    says({ { "model_type", "nemotron_h" }, { "num_hidden_layers", 52 }, { "hidden_size", 2688 },
             { "vocab_size", 131072 }, { "num_attention_heads", 32 }, { "num_key_value_heads", 2 }, { "head_dim", 128 },
             { "mamba_num_heads", 64 }, { "mamba_head_dim", 64 }, { "ssm_state_size", 128 }, { "n_groups", 8 },
             { "conv_kernel", 4 }, { "n_routed_experts", 128 }, { "num_experts_per_tok", 6 },
             { "moe_intermediate_size", 1856 }, { "moe_shared_expert_intermediate_size", 3712 },
             { "n_shared_experts", 1 }, { "intermediate_size", 1856 }, { "tie_word_embeddings", false },
             { "hybrid_override_pattern", pattern } },
        "31578");
    says({ { "model_type", "jamba" }, { "num_hidden_layers", 32 }, { "hidden_size", 4096 }, { "vocab_size", 65536 },
             { "num_attention_heads", 32 }, { "num_key_value_heads", 8 }, { "intermediate_size", 14336 },
             { "num_experts", 16 }, { "num_experts_per_tok", 2 }, { "expert_layer_period", 2 },
             { "expert_layer_offset", 1 }, { "attn_layer_period", 8 }, { "attn_layer_offset", 4 },
             { "mamba_d_state", 16 }, { "mamba_d_conv", 4 }, { "mamba_expand", 2 }, { "mamba_dt_rank", 256 },
             { "tie_word_embeddings", false } },
        "51570");
    // nine layers of Mamba-2 and one of attention, each with 32 experts of 512 and a shared MLP of 1024; tied
    const double h = 2048, inner = 64 * 64, mixed = inner + 2 * 128, experts = 32 * (3 * h * 512 + h) + 3 * h * 1024,
                 mamba = h * (inner + mixed + 64) + 5 * mixed + 3 * 64 + inner + inner * h;
    const double granite = 49152 * h + h + 10 * (experts + 2 * h) + 9 * mamba + h * 128 * (2 * 16 + 2 * 4);
    says({ { "model_type", "granitemoehybrid" }, { "num_hidden_layers", 10 }, { "hidden_size", 2048 },
             { "vocab_size", 49152 }, { "num_attention_heads", 16 }, { "num_key_value_heads", 4 },
             { "intermediate_size", 512 }, { "shared_intermediate_size", 1024 }, { "num_local_experts", 32 },
             { "num_experts_per_tok", 8 }, { "mamba_n_heads", 64 }, { "mamba_d_head", 64 }, { "mamba_d_state", 128 },
             { "mamba_n_groups", 1 }, { "mamba_d_conv", 4 }, { "tie_word_embeddings", true },
             { "layer_types",
                 { "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba" } } },
        std::to_string(std::llround(granite / 1e6)).c_str());
}

void ModelFamiliesTest::anUnknownKeyIsADoubtOfEveryFamily()
{
    for (const Json &row : families()) {
        const ModelSpec model = readConfig(withKeys(row["config"], { { "zebra_stripes", 7 } }));
        QCOMPARE(model.doubts.size(), std::size_t(1));
        const Doubt doubt = model.doubts.front();
        QVERIFY2(doubt.text.find("zebra_stripes (7)") != std::string::npos, doubt.text.c_str());
        QVERIFY(!doubt.isBlocking && doubt.low < 0 && doubt.high > 0);
    }
    // what may say another thing of each layer is a matter of the shape
    Json stripes = Json::array();
    for (int layer = 0; layer < 8; ++layer)
        stripes.push_back(layer % 3);
    const ModelSpec model = readConfig(withKeys(plainConfig("llama"), { { "zebra_stripes", stripes } }));
    QVERIFY2(blockingDoubt(model.doubts), doubtsText(model).c_str());
    QVERIFY(!readConfig(withKeys(plainConfig("llama"), { { "kv_cache_share_layers", 4 } })).doubts.empty());
}

void ModelFamiliesTest::keysThatChangeNothingAreNoDoubt()
{
    const ModelSpec model = readConfig(withKeys(plainConfig("llama"),
        Json::parse(
            R"({"bos_token_id": 1, "pad_token_id": null, "rope_scaling": {"type": "yarn"}, "torch_dtype": "float16",
            "quantization_config": {"bits": 4}, "zebra": false, "stripes": 0, "attention_dropout": 0.1,
            "architectures": ["LlamaForCausalLM"], "transformers_version": "4.40.0", "mamba_ssm_dtype": "float32"})")));
    QVERIFY2(model.doubts.empty(), doubtsText(model).c_str());
}

void ModelFamiliesTest::anUnknownFamilyWithAnUnknownShapeIsRefused()
{
    const ModelSpec plain = readConfig(plainConfig("zebra"));
    QVERIFY(!blockingDoubt(plain.doubts) && !plain.doubts.empty());
    // a gate is a third of an MLP: without it a token uses fewer parameters
    QVERIFY(plain.doubts.front().low < 0 && plain.gatedFfn);
    QVERIFY(blockingDoubt(readConfig(withKeys(plainConfig("zebra"), { { "stripe_head_dim", 32 } })).doubts));
    QVERIFY(!blockingDoubt(readConfig(withKeys(plainConfig("zebra"), { { "stripe_color", "white" } })).doubts));
    // whether the head has weights of its own is said where no key tells it, and not where one does
    Json untold = plainConfig("zebra");
    untold.erase("tie_word_embeddings");
    QVERIFY(doubtsText(readConfig(untold)).find("else there are 0 M parameters more") != std::string::npos);
    QVERIFY(doubtsText(plain).find("parameters more") == std::string::npos);
}

void ModelFamiliesTest::whatLiesBesideAConfigIsNamed()
{
    const auto error = [](const char *text) {
        const auto model = parseHuggingFaceConfig(text, "file.json");
        return model ? std::string() : toString(model.error());
    };
    QVERIFY(error(R"({"peft_type": "LORA", "r": 16})").find("the configuration of an adapter") != std::string::npos);
    QVERIFY(error(R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "vocab_size": 32000})").find("is a params.json")
        != std::string::npos);
}

void ModelFamiliesTest::expertsAreReadInEveryDialect_data()
{
    QTest::addColumn<QString>("keys");
    const auto add = [](const char *name, const char *keys) { QTest::newRow(name) << QString(keys); };
    add("DeepSeek",
        R"({"n_routed_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 96, "n_shared_experts": 2,
        "first_k_dense_replace": 1, "moe_layer_freq": 1})");
    add("a list of layers", R"({"n_routed_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 96,
        "n_shared_experts": 2, "moe_layer_freq": [0, 1, 1, 1, 1, 1, 1, 1]})");
    add("ERNIE", R"({"moe_num_experts": 16, "moe_k": 4, "moe_intermediate_size": 96, "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1, "moe_layer_end_index": 7, "moe_layer_interval": 1})");
    add("Hunyuan's lists", R"({"num_experts": 16, "moe_topk": [4, 4, 4, 4, 4, 4, 4, 4], "moe_layer_num_skipped": 1,
        "moe_intermediate_size": [96, 96, 96, 96, 96, 96, 96, 96], "num_shared_expert": [2, 2, 2, 2, 2, 2, 2, 2]})");
    add("Step's numbers",
        R"({"moe_num_experts": 16, "moe_top_k": 4, "moe_intermediate_size": 96, "share_expert_dim": 192,
        "moe_layers_enum": "1,2,3,4,5,6,7"})");
    add("kinds of MLPs", R"({"num_local_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 96,
        "shared_expert_intermediate_size": 192,
        "mlp_layer_types": ["dense", "sparse", "sparse", "sparse", "sparse", "sparse", "sparse", "sparse"]})");
    add("those left out", R"({"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 96,
        "shared_expert_intermediate_size": 192, "mlp_only_layers": [0], "decoder_sparse_step": 1})");
    add("shared ones of their own width", R"({"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 96,
        "num_shared_experts": 1, "moe_shared_expert_intermediate_size": 192, "num_dense_layers": 1})");
}

void ModelFamiliesTest::expertsAreReadInEveryDialect()
{
    QFETCH(QString, keys);
    const ModelSpec m = readConfig(withKeys(plainConfig("deepseek_v3"), Json::parse(keys.toStdString())));
    QVERIFY2(m.doubts.empty(), doubtsText(m).c_str());
    QCOMPARE(m.experts, 16);
    QCOMPARE(m.expertsPerToken, 4);
    QCOMPARE(m.expertFfn, 96);
    QCOMPARE(m.sharedExpertFfn, 192);
    for (int layer = 0; layer < m.layers; ++layer)
        QCOMPARE(m.isExpertLayer(layer), layer >= 1);
}

void ModelFamiliesTest::widthsByLayerAreOneWidthOnlyWhereTheyAreEqual()
{
    const Json equal = withKeys(
        plainConfig("llama"), { { "intermediate_size", Json::array({ 256, 256, 256, 256, 256, 256, 256, 256 }) } });
    QCOMPARE(totalParameters(readConfig(equal)), totalParameters(readConfig(plainConfig("llama"))));
    QVERIFY(readConfig(equal).doubts.empty());
}

void ModelFamiliesTest::pythonsNumbersAreNoReasonToRefuse()
{
    std::string text = plainConfig("llama").dump();
    text.insert(
        1, R"("time_step_limit": [0.0, Infinity], "low": -Infinity, "no_number": NaN, "name": "Infinity \" NaN", )");
    const auto model = parseHuggingFaceConfig(text, "config.json");
    QVERIFY2(model.has_value(), model ? "" : toString(model.error()).c_str());
    QCOMPARE(model->layers, 8);
    // a shape that is no number is missing
    std::string infinite = plainConfig("llama").dump();
    infinite.replace(infinite.find("\"vocab_size\":1000"), 17, "\"vocab_size\":Infinity");
    QVERIFY(!parseHuggingFaceConfig(infinite, "config.json"));
}

void ModelFamiliesTest::aLanguageModelIsFoundUnderEveryName_data()
{
    QTest::addColumn<QString>("around");
    for (const char *around : { R"({"text_config": 0})", R"({"llm_config": 0})", R"({"language_config": 0})",
             R"({"thinker_config": {"text_config": 0, "audio_config": {"d_model": 8, "encoder_layers": 1}}})" })
        QTest::newRow(around) << QString(around);
}

void ModelFamiliesTest::aLanguageModelIsFoundUnderEveryName()
{
    QFETCH(QString, around);
    Json inner = plainConfig("qwen3");
    inner.erase("tie_word_embeddings");
    QString text = around;
    text.replace(": 0", ": " + QString::fromStdString(inner.dump()));
    Json config = Json::parse(text.toStdString());
    config["model_type"] = "some_vision_model";
    config["tie_word_embeddings"] = false;
    config["vision_config"] = { { "hidden_size", 8 }, { "depth", 1 }, { "num_hidden_layers", 1 } };
    const ModelSpec model = readConfig(config);
    QCOMPARE(totalParameters(model), totalParameters(readConfig(plainConfig("qwen3"))));
    QVERIFY2(model.doubts.empty(), doubtsText(model).c_str());
}

void ModelFamiliesTest::towersAreNamedWithTheirShare()
{
    Json config { { "model_type", "x" }, { "text_config", plainConfig("llama") },
        { "vision_config", { { "hidden_size", 64 }, { "num_hidden_layers", 8 }, { "intermediate_size", 256 } } } };
    const ModelSpec model = readConfig(config);
    QCOMPARE(model.doubts.size(), std::size_t(1));
    // 12 h^2 a layer, as much again of the time at most as it is of the parameters
    const double tower = 8 * 12.0 * 64 * 64;
    QVERIFY(!model.doubts.front().isBlocking && model.doubts.front().key == "vision_config");
    QVERIFY(std::abs(model.doubts.front().high - tower / totalParameters(model)) < 1e-9);
}

void ModelFamiliesTest::linearAttentionSaysHowFarOffItIs()
{
    Json kinds = Json::array();
    for (int layer = 0; layer < 8; ++layer)
        kinds.push_back(layer % 4 == 3 ? "full_attention" : "linear_attention");
    const ModelSpec model = readConfig(withKeys(plainConfig("qwen3_5_text"),
        { { "layer_types", kinds }, { "head_dim", 16 }, { "linear_num_key_heads", 4 }, { "linear_num_value_heads", 8 },
            { "linear_key_head_dim", 16 }, { "linear_value_head_dim", 16 }, { "linear_conv_kernel_dim", 4 } }));
    QCOMPARE(model.doubts.size(), std::size_t(1));
    // six layers: in h(2·64 + 2·128 + 2·8), out 128 h, instead of h·16·(2·4 + 2·2); two: a gate of h·4·16 more
    const double h = 64, more = 6 * (h * (128 + 256 + 16) + 128 * h - h * 16 * 12) + 2 * h * 64;
    const QString said = QString::number(std::round(1000 * more / totalParameters(model)) / 10) + " %";
    QVERIFY2(model.doubts.front().text.find(said.toStdString()) != std::string::npos, qPrintable(said));
    QVERIFY(!model.doubts.front().isBlocking && model.doubts.front().high > 0 && model.doubts.front().low <= 0);
}

void ModelFamiliesTest::defaultsOfAFamilyStandWhereItsFilesLeaveThemOut()
{
    // Gemma 3 4B as published: the inner config leaves out vocabulary, heads and their width
    const ModelSpec gemma =
        readConfig(Json::parse(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
        "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})"));
    QVERIFY(std::abs(totalParameters(gemma) / 3'880'263'168.0 - 1) < 1e-4); // of 4,300,079,472 with its tower
    QCOMPARE(gemma.windowedLayers, 29); // all but each sixth
    const ModelSpec llava = readConfig(Json::parse(R"({"model_type": "llava", "text_config": {"model_type": "llama",
        "vocab_size": 32064}, "vision_config": {"hidden_size": 8, "num_hidden_layers": 1}})"));
    QCOMPARE(totalParameters(llava), 6738415616.0 + 2.0 * 64 * 4096); // Llama 2 7B with 64 more rows in both tables
    // a file that is no part of another has to tell its shape
    QVERIFY(!parseHuggingFaceConfig(R"({"model_type": "llama", "vocab_size": 32064})", "config.json"));
}

void ModelFamiliesTest::doubtsGoIntoAModelsTextAndOutOfIt()
{
    ModelSpec model = readConfig(plainConfig("llama"));
    model.doubts = { { "layer_types", "some are of another kind", -0.25, 0.5, false }, { "", "no shape", 0, 0, true } };
    const auto again = parseModel(formatModel(model), "plan.json");
    QVERIFY2(again.has_value(), again ? "" : toString(again.error().front()).c_str());
    QVERIFY(again->doubts == model.doubts);
    QVERIFY(!parseModel(
        R"({"layers": 1, "hidden": 8, "heads": 1, "vocab": 8, "ffn": 8, "not_understood": [{"key": "x"}]})", "p"));
    QVERIFY(!parseModel(R"({"layers": 1, "hidden": 8, "heads": 1, "vocab": 8, "ffn": 8, "not_understood": 3})", "p"));
    QVERIFY(whyUnranked(model.doubts) && !whyUnranked({}));
    QVERIFY(whyUnranked(model.doubts)->what.find("no shape") != std::string::npos);
}

TRAINYARD_APPLESS_TEST(ModelFamiliesTest)
#include "tst_model_families.moc"
