// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/alarm_setup.h"

#include "core/base/json_parser_internal.h"
#include "core/base/text_file.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>

namespace trainyard::desk {

namespace {

using SetupJson = nlohmann::ordered_json;

constexpr const char *kFormat = "trainyard.alarms";
constexpr std::size_t kMostTargets = 16, kMostArguments = 64;
constexpr double kLongestTry = 600; // s

/// Reads one file, and collects all that is wrong with it.
class SetupReader {
public:
    explicit SetupReader(std::string fileName)
        : m_file(std::move(fileName))
    {
    }

    AlarmSetup read(const SetupJson &document)
    {
        AlarmSetup setup;
        if (!document.is_object()) {
            fault("", "is no file of alarms", "an object");
            return setup;
        }
        known(document, "", { "format", "version", "rules", "notify" });
        const auto format = document.find("format");
        if (format == document.end() || *format != kFormat)
            fault("/format", "is no file of alarms", std::string("\"") + kFormat + "\"");
        const auto version = document.find("version");
        if (version == document.end() || *version != 1)
            fault("/version", "is none that is known", "1");
        if (const auto rules = document.find("rules"); rules != document.end())
            readRules(*rules, setup.rules);
        if (const auto notify = document.find("notify"); notify != document.end())
            readTargets(*notify, setup.targets);
        return setup;
    }
    Errors errors;

private:
    void fault(const std::string &pointer, std::string what, std::string right)
    {
        if (errors.size() < detail::kMaxErrors)
            errors.push_back({ ErrorCode::BadValue, place(pointer), std::move(what), std::move(right) });
    }
    [[nodiscard]] std::string place(const std::string &pointer) const
    {
        return m_file + (pointer.empty() ? "" : ": " + pointer);
    }
    void known(const SetupJson &object, const std::string &pointer, const std::vector<std::string> &keys)
    {
        for (const auto &[key, value] : object.items())
            if (std::ranges::find(keys, key) == keys.end())
                errors.push_back({ ErrorCode::UnknownKey, place(pointer + "/" + detail::escapedPointerStep(key)),
                    "nothing is called so there", joined(keys, ", ", " or ") });
    }

    void readRules(const SetupJson &rules, watch::AlarmRules &to)
    {
        if (!rules.is_object())
            return fault("/rules", "is no object", "rules by their names");
        for (const auto &[key, value] : rules.items()) {
            const std::string pointer = "/rules/" + detail::escapedPointerStep(key);
            const auto rule = watch::ruleNamed(key);
            if (!rule)
                errors.push_back({ ErrorCode::UnknownKey, place(pointer), "is no rule of alarms", rule.error().right });
            else if (!value.is_object())
                fault(pointer, "is no object", "\"threshold\", \"hold_s\" or \"on\" in it");
            else
                readRule(value, pointer, *rule, to);
        }
    }

    void readRule(const SetupJson &value, const std::string &pointer, watch::RuleId rule, watch::AlarmRules &to)
    {
        const bool isXid = rule == watch::RuleId::Xid;
        known(value, pointer,
            isXid ? std::vector<std::string> { "hold_s", "on", "ignore" }
                  : std::vector<std::string> { "threshold", "hold_s", "on" });
        const auto take = [&](const Expected<void> &set) {
            if (!set)
                errors.push_back(set.error());
        };
        if (const auto threshold = value.find("threshold"); threshold != value.end() && !isXid) {
            if (threshold->is_number())
                take(to.setThreshold(rule, threshold->get<double>(), place(pointer + "/threshold")));
            else
                fault(pointer + "/threshold", "is no number", watch::rangeText(watch::traitsOf(rule)));
        }
        if (const auto hold = value.find("hold_s"); hold != value.end()) {
            if (hold->is_number())
                take(to.setHold(rule, hold->get<double>(), place(pointer + "/hold_s")));
            else
                fault(pointer + "/hold_s", "is no number", "0 to 86400 (s)");
        }
        if (const auto on = value.find("on"); on != value.end()) {
            if (on->is_boolean())
                to[rule].isOn = on->get<bool>();
            else
                fault(pointer + "/on", "is neither on nor off", "true or false");
        }
        if (const auto ignore = value.find("ignore"); ignore != value.end() && isXid)
            readIgnored(*ignore, pointer + "/ignore", to);
    }

    void readIgnored(const SetupJson &list, const std::string &pointer, watch::AlarmRules &to)
    {
        const auto isXid = [](const SetupJson &one) {
            return one.is_number_integer() && one.get<double>() >= 1 && one.get<double>() <= watch::kLargestXid;
        };
        if (!list.is_array() || !std::ranges::all_of(list, isXid))
            return fault(pointer, "is no list of XIDs", "numbers from 1 to 10000: [13, 31]");
        to.ignoredXids = list.get<std::vector<int>>();
    }

    void readTargets(const SetupJson &list, std::vector<NotifyTarget> &to)
    {
        if (!list.is_array() || list.size() > kMostTargets)
            return fault("/notify", "is no list of whom to notify",
                "up to 16 of { \"command\": [\"PROGRAM\", …] } or { \"webhook\": \"http://…\" }");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string pointer = "/notify/" + std::to_string(i);
            if (list[i].is_object())
                readTarget(list[i], pointer, to);
            else
                fault(pointer, "is no object", "\"command\" or \"webhook\" in it");
        }
    }

    void readTarget(const SetupJson &value, const std::string &pointer, std::vector<NotifyTarget> &to)
    {
        known(value, pointer, { "command", "webhook", "token_file", "timeout_s", "cleared" });
        const std::size_t before = errors.size();
        NotifyTarget target;
        const auto command = value.find("command"), webhook = value.find("webhook");
        if ((command == value.end()) == (webhook == value.end()))
            return fault(pointer, "names none to notify, or two", "\"command\" or \"webhook\"");
        if (command != value.end())
            readCommand(*command, pointer + "/command", target);
        else if (!webhook->is_string())
            fault(pointer + "/webhook", "is no address", "\"http://127.0.0.1:9000/alarm\"");
        else if (auto address = webhookNamed(webhook->get<std::string>(), place(pointer + "/webhook")))
            target.webhook = std::move(*address);
        else
            errors.push_back(address.error());
        if (const auto file = value.find("token_file"); file != value.end()) {
            if (file->is_string() && webhook != value.end())
                target.tokenFile = file->get<std::string>();
            else
                fault(pointer + "/token_file", "belongs to nothing", "the path of a file, beside \"webhook\"");
        }
        if (const auto timeout = value.find("timeout_s"); timeout != value.end()) {
            const double seconds = timeout->is_number() ? timeout->get<double>() : -1;
            if (seconds >= 0.1 && seconds <= kLongestTry)
                target.timeoutSeconds = seconds;
            else
                fault(pointer + "/timeout_s", "is no time to wait", "0.1 to 600 (s)");
        }
        if (const auto cleared = value.find("cleared"); cleared != value.end()) {
            if (cleared->is_boolean())
                target.tellsCleared = cleared->get<bool>();
            else
                fault(pointer + "/cleared", "is neither yes nor no", "true or false");
        }
        if (errors.size() == before)
            to.push_back(std::move(target));
    }

    void readCommand(const SetupJson &command, const std::string &pointer, NotifyTarget &target)
    {
        const auto isArgument = [](const SetupJson &one) {
            return one.is_string() && one.get_ref<const std::string &>().find('\0') == std::string::npos;
        };
        const bool isRight = command.is_array() && !command.empty() && command.size() <= kMostArguments
            && std::ranges::all_of(command, isArgument) && !command[0].get_ref<const std::string &>().empty();
        if (!isRight)
            return fault(
                pointer, "is no command", "a program and its arguments, each a text: [\"/usr/bin/page\", \"ops\"]");
        target.command = command.get<std::vector<std::string>>();
    }

    std::string m_file;
};

SetupJson jsonOf(const NotifyTarget &target)
{
    SetupJson json;
    if (!target.command.empty())
        json["command"] = target.command;
    else
        json["webhook"] = target.webhook.text();
    if (!target.tokenFile.empty())
        json["token_file"] = target.tokenFile;
    json["timeout_s"] = target.timeoutSeconds;
    json["cleared"] = target.tellsCleared;
    return json;
}

} // namespace

std::string NotifyTarget::name() const
{
    if (!command.empty())
        return command.front();
    live::Address shown = webhook;
    shown.path.clear();
    return shown.text();
}

ExpectedAll<AlarmSetup> alarmSetupIn(std::string_view text, const std::string &fileName)
{
    const auto parsed = detail::parsedJson<SetupJson>(text, fileName, { .refusesDuplicates = true });
    if (!parsed)
        return std::unexpected(parsed.error());
    SetupReader reader(fileName);
    AlarmSetup setup = reader.read(*parsed);
    if (!reader.errors.empty())
        return std::unexpected(std::move(reader.errors));
    return setup;
}

ExpectedAll<AlarmSetup> readAlarmSetup(const std::string &path)
{
    const auto text = readTextFile(path, "a file of alarms: {\"format\": \"trainyard.alarms\", \"version\": 1, …}");
    if (!text)
        return std::unexpected(Errors { text.error() });
    return alarmSetupIn(*text, path);
}

std::string textOf(const AlarmSetup &setup)
{
    SetupJson json { { "format", kFormat }, { "version", 1 }, { "rules", SetupJson::object() } };
    for (const watch::RuleTraits &traits : watch::ruleTraits()) {
        const watch::AlarmRule &rule = setup.rules[traits.id];
        SetupJson one { { "on", rule.isOn } };
        if (traits.hasThreshold())
            one["threshold"] = rule.threshold;
        one["hold_s"] = rule.holdSeconds;
        if (traits.id == watch::RuleId::Xid)
            one["ignore"] = setup.rules.ignoredXids;
        json["rules"][traits.key] = std::move(one);
    }
    json["notify"] = SetupJson::array();
    for (const NotifyTarget &target : setup.targets)
        json["notify"].push_back(jsonOf(target));
    return json.dump(2, ' ', false, SetupJson::error_handler_t::replace) + "\n";
}

Expected<live::Address> webhookNamed(std::string_view url, const std::string &where)
{
    const bool isWeb = url.starts_with("http://") || url.starts_with("https://");
    auto address = live::parseAddress(url);
    if (!isWeb || !address)
        return std::unexpected(Error { ErrorCode::BadValue, where,
            isWeb ? address.error().what : std::string("is no address of a webhook"),
            "http://127.0.0.1:9000/alarm, or https://" });
    return address;
}

Errors webhooksElsewhere(const std::vector<NotifyTarget> &targets)
{
    Errors faults;
    for (const NotifyTarget &target : targets)
        if (target.command.empty() && !live::isLoopback(target.webhook.host))
            faults.push_back({ ErrorCode::BadValue, target.name(), "is beyond this machine",
                "an address of loopback, or --webhooks-anywhere beside it" });
    return faults;
}

} // namespace trainyard::desk
