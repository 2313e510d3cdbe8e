#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of `bubble_fill`: prefill of a served model in the bubbles of training.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

namespace trainyard::keys {

inline bool fills(const Plan &plan)
{
    return plan.bubbleFill.enabled;
}
inline bool drawsArrivals(const Plan &plan)
{
    return fills(plan) && plan.bubbleFill.arrivals != Arrivals::Trace;
}
inline bool bursts(const Plan &plan)
{
    return fills(plan) && plan.bubbleFill.arrivals == Arrivals::Bursty;
}

inline bool batches(const Plan &plan)
{
    return fills(plan) && plan.bubbleFill.prefillBatch > 1;
}
inline bool hasDecodePool(const Plan &plan)
{
    return fills(plan) && plan.bubbleFill.decode.gpus.has_value();
}

template <class V> [[gnu::cold]] void describe(V &v, Of<ServedModel>)
{
    v.value(&ServedModel::model,
        Key("model", "Model that is served too: catalogue name or path", said("Further served model"), kRequired,
            more("a path of a `config.json` is relative to the plan")));
    v.value(&ServedModel::requestsPerSecond,
        Key("requests_per_s", "Arrival rate of its requests, 1/s", said("Requests", " per second"), upTo(1e9),
            more("they arrive by the rule of `bubble_fill.arrivals`, drawn apart from the others; beside a trace, at "
                 "random")));
    v.value(&ServedModel::promptTokens,
        Key("prompt_tokens", "Tokens of its prompts", said("Prompt", " tokens"), range(1, 1e8)));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<DecodePool>)
{
    v.value(&DecodePool::gpus,
        Key("gpus", "GPUs that decode, beside those of the cluster", otherwise("as many as it takes"),
            said("GPUs that decode"), range(1, 1e6), when(fills),
            more("a request is taken only where one of them has room for its keys and values when they arrive")));
    v.value(&DecodePool::gpu,
        Key("gpu", "Their type, by the catalogue", otherwise("that of the cluster's first pool"),
            said("Type of GPUs that decode"), when(hasDecodePool)));
    v.value(&DecodePool::outputTokens,
        Key("output_tokens", "Tokens of an answer", said("Answer", " tokens"), range(1, 1e8), when(hasDecodePool),
            more("so long a request keeps its room in the decode pool")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<BubbleFill>)
{
    v.value(&BubbleFill::enabled,
        Key("enabled", "Serve prefill requests in the bubbles", said("Bubble filling"), kAlways,
            shown("Prefill in bubbles",
                "Serves prompts of another model while training waits. A request is taken only where all of it fits "
                "into idle time, so training is never delayed."),
            choice("Prefill in bubbles", "bubble_fill"), kOwnWork));
    v.value(&BubbleFill::model,
        Key("model", "Model that is served: catalogue name or path", said("Served model"),
            more("a path of a `config.json` is relative to the plan"),
            shown("Served model", "The model whose prompts are served. Its weights lie beside training."),
            choice("Served model", "fill_model")));
    v.value(&BubbleFill::served,
        Key("served", "Further models that the same GPUs serve", otherwise("none"),
            more("the weights of all of them lie on each group")));
    v.value(&BubbleFill::stages,
        Key("stages", "Stages over which the served model is spread", said("Stages of the served model"),
            range(1, 4096), when(fills),
            shown("Served over",
                "GPUs of one datacenter over which the served model is split; more, and each holds less of it."),
            choice("Served over", "fill_stages"), kWorthTrying<1, 2, 4, 8, 16>));
    v.value(&BubbleFill::arrivals,
        Key("arrivals", "When requests arrive: poisson, constant, bursty, or a trace", said("Arrivals"),
            shown("Arrivals", "When requests come: at random, evenly, in bursts, or as a recorded trace says."),
            choice("Arrivals", "fill_arrivals")));
    v.value(&BubbleFill::requestsPerSecond,
        Key("requests_per_s", "Arrival rate of requests, 1/s", said("Requests", " per second"), upTo(1e9),
            when(drawsArrivals),
            more("of more than a million requests in one iteration a million are placed, the rest count as rejected"),
            shown("Rate", "Requests that arrive in a second, on average, over the whole cluster."),
            field(2, " requests/s")));
    v.value(&BubbleFill::burstiness,
        Key("burstiness", "Bursty arrivals: rate inside a burst / mean rate", said("Burstiness"), range(1, 1e4),
            when(bursts), shown("Burst", "Arrival rate inside a burst over the mean rate."), field(1, " × the mean")));
    v.value(&BubbleFill::trace,
        Key("trace", "Arrivals from a CSV with the columns time_s,prompt_tokens, relative to the plan",
            said("Trace of requests"), when(fills),
            more("times count from the start of the iteration, later ones than its end are left out; not used under "
                 "other arrivals than `trace`"),
            shown("Trace",
                "A CSV with the columns time_s and prompt_tokens, one request per line. Choosing one makes it the "
                "arrivals.")));
    v.value(&BubbleFill::promptTokens,
        Key("prompt_tokens", "Tokens of a prompt", said("Prompt", " tokens"), range(1, 1e8), when(drawsArrivals),
            shown("Prompt", "Tokens of a prompt. Prefill time grows a little faster than in proportion.")));
    v.value(&BubbleFill::prefillBatch,
        Key("prefill_batch", "Prompts that are prefilled at once, at most", said("Prompts at once"), range(1, 256),
            when(fills), more("of one model and length; one that is full or has waited long enough is placed as one"),
            shown("Prompts at once",
                "Prompts that are prefilled together, at most. Short ones then use a GPU better, and wait for one "
                "another.")));
    v.value(&BubbleFill::batchWaitMs,
        Key("batch_wait_ms", "Time that the first prompt of a batch waits for others, milliseconds",
            said("Wait for a batch", " ms"), upTo(1e9), when(batches),
            shown("Wait for a batch", "Milliseconds after which a batch is served though it is not full."), field(2)));
    v.value(&BubbleFill::ttftSloMs,
        Key("ttft_slo_ms", "Time to first token that is promised, milliseconds", said("Time to first token", " ms"),
            above(0, 1e9), when(fills),
            shown("First token within",
                "Time to first token that is promised; a request that would take longer is turned away.")));
    v.value(&BubbleFill::guardMs,
        Key("guard_ms", "Time kept free before training work, milliseconds", said("Guard time", " ms"), upTo(1e9),
            when(fills),
            shown("Guard time",
                "Milliseconds of a bubble that prefill leaves free before training goes on, so that a prompt that "
                "takes longer than predicted delays nothing."),
            field(2)));
    v.value(&BubbleFill::chaining,
        Key("chaining", "Also place a request over GPUs whose bubbles are not aligned",
            said("Chaining of unaligned bubbles"),
            shown("Chaining",
                "Also spread a request over GPUs whose bubbles do not lie at the same time: fills more, but a request "
                "waits longer."),
            when(fills), choice("Chaining", "fill_chaining"), kOffered));
    v.value(&BubbleFill::kvGbps,
        Key("kv_gbps", "Bandwidth of one GPU to the decode GPUs, 10^9 bits/s", otherwise("the fabric's"),
            said("Way to the decode GPUs", " Gbps"), above(0, 1e6), when(fills),
            more("the GPU takes its next prompt when the keys and values of the last are on their way at that pace, "
                 "also where the move does not count for the first token"),
            shown("KV cache",
                "Bandwidth from one GPU to the GPUs that decode, to which the KV cache moves. Zero: that of the "
                "fabric, by the catalogue."),
            field(1), lowestMeans("catalogue default")));
    v.value(&BubbleFill::firstTokenFromDecode,
        Key("first_token_from_decode", "The decode GPU emits the first token, so that moving the KV cache counts",
            said("First token from the decode GPU"), more("it occupies the GPU either way"),
            shown("TTFT from decode",
                "The time to first token, in milliseconds, includes moving the KV cache: the GPU that decodes emits "
                "the first token, not the one that prefills."),
            when(fills), choice("First token from decode", "fill_first_token"), kOffered));
    v.value(&BubbleFill::decode, Key("decode", "The GPUs that decode"));
    v.value(&BubbleFill::usdPerMillionTokens,
        Key("usd_per_million_tokens",
            "Value of 10^6 prefill tokens, USD; 0: what a dedicated GPU of the same kind would cost",
            said("Value of prefill", " USD per million tokens"), upTo(1e6), when(fills),
            shown("Value of prefill",
                "Dollars that a million prefill tokens bring in. Zero: what dedicated GPUs of the same kind would "
                "cost."),
            field(3, " $/Mtok"), lowestMeans("GPU time saved")));
    v.value(&BubbleFill::seed, Key("seed", "Seed of the random arrivals", said("Seed of the arrivals"), upTo(1e9)));
}

} // namespace trainyard::keys
