// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/credentials.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "storage/paths.hpp"
#include "storage/whole_file.hpp"

namespace shoal {

namespace {

constexpr std::uint64_t k_most_profile_bytes = std::uint64_t{1} << 20;

using Profile = std::map<std::string, std::string>;

struct ProfileFile {
  std::string path;
  bool has_profile = false;
  Profile values;
};

/// The lines of one section of a file. Those that begin with a blank belong to a setting of many lines, of
/// which none counts here.
void read_section(const std::string& text, const std::vector<std::string>& names, ProfileFile& file) {
  std::istringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line[0] == ';' || line[0] == ' ' || line[0] == '\t') continue;
    line = trimmed(line);
    if (line.starts_with('[')) {
      const std::string name = trimmed(std::string_view(line).substr(1, line.find(']') - 1));
      inside = std::find(names.begin(), names.end(), name) != names.end();
      file.has_profile = file.has_profile || inside;
      continue;
    }
    const std::size_t equal = line.find('=');
    if (!inside || equal == std::string::npos) continue;
    file.values[lower(trimmed(std::string_view(line).substr(0, equal)))] =
        trimmed(std::string_view(line).substr(equal + 1));
  }
}

/// The file that a variable names, or one in ~/.aws.
ProfileFile profile_file(const VariableFinder& variable, const char* names_it, const std::string& usual,
                         const std::vector<std::string>& sections) {
  const auto home = variable("HOME").value_or("");
  ProfileFile file;
  if (const auto named = variable(names_it)) {
    file.path = named->starts_with("~/") ? joined_path(home, named->substr(2)) : *named;
    if (!is_a_file(file.path))
      throw Error(Code::setting, "{} names no file: correct it, or unset it", names_it).in_file(file.path);
  } else {
    if (home.empty()) return file;
    file.path = joined_path(home, ".aws/" + usual);
  }
  if (const auto text = read_whole_file(file.path, k_most_profile_bytes)) read_section(*text, sections, file);
  return file;
}

/// A value that goes into a header, where a line feed would end it.
std::string clean(const std::string& value, const char* what) {
  if (std::any_of(value.begin(), value.end(), [](char c) { return c <= ' ' || c == 0x7f; }))
    throw Error(Code::setting, "{} has blanks or characters that no such value has; correct it", what);
  return value;
}

std::string value_in(const Profile& profile, const char* name) {
  const auto found = profile.find(name);
  return found == profile.end() ? "" : found->second;
}

void check_pair(const S3Access& access, const std::string& id, const std::string& secret,
                const std::string& where) {
  if (access.key_id.empty() != access.secret.empty())
    throw Error(Code::setting, "{} has {} and no {}: set both, or none for a public bucket", where,
                access.key_id.empty() ? secret : id, access.key_id.empty() ? id : secret);
}

/// Ways to get keys that the AWS tools know, and Shoal does not.
constexpr std::array k_other_ways{
    "role_arn",      "sso_session", "sso_start_url", "credential_process", "web_identity_token_file",
    "source_profile"};

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

S3Access find_s3_access(const VariableFinder& variable) {
  const auto named = variable("AWS_PROFILE");
  const std::string name = named.value_or("default");
  std::vector<std::string> sections{"profile " + name};
  if (name == "default") sections.push_back(name);
  const ProfileFile config = profile_file(variable, "AWS_CONFIG_FILE", "config", sections);
  const ProfileFile shared = profile_file(variable, "AWS_SHARED_CREDENTIALS_FILE", "credentials", {name});
  Profile profile = config.values;
  for (const auto& [key, value] : shared.values)
    profile[key] = value;

  S3Access access;
  access.key_id = variable("AWS_ACCESS_KEY_ID").value_or("");
  access.secret = variable("AWS_SECRET_ACCESS_KEY").value_or("");
  check_pair(access, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "the environment");
  if (!access.is_anonymous()) {
    access.token = variable("AWS_SESSION_TOKEN").value_or("");
  } else {
    if (named && !config.has_profile && !shared.has_profile)
      throw Error(Code::setting, "AWS_PROFILE is '{}', and neither {} nor {} has this profile", name,
                  shared.path.empty() ? "~/.aws/credentials" : shared.path,
                  config.path.empty() ? "~/.aws/config" : config.path);
    access.key_id = value_in(profile, "aws_access_key_id");
    access.secret = value_in(profile, "aws_secret_access_key");
    access.token = value_in(profile, "aws_session_token");
    check_pair(access, "aws_access_key_id", "aws_secret_access_key", "profile '" + name + "'");
    for (const char* way : k_other_ways)
      if (access.is_anonymous() && profile.count(way) != 0)
        throw Error(Code::setting,
                    "profile '{}' has no keys but {}, which Shoal does not know: let the AWS tools get keys, "
                    "eval \"$(aws configure export-credentials --profile {} --format env)\"",
                    name, way, name);
    if (access.is_anonymous()) access.token.clear();
  }
  clean(access.key_id, "the key id (AWS_ACCESS_KEY_ID)");
  clean(access.secret, "the secret key (AWS_SECRET_ACCESS_KEY)");
  clean(access.token, "the token of the session (AWS_SESSION_TOKEN)");

  const auto or_else = [&](std::initializer_list<const char*> variables, const char* in_profile) {
    for (const char* one : variables)
      if (const auto value = variable(one)) return *value;
    return value_in(profile, in_profile);
  };
  access.region = or_else({"AWS_REGION", "AWS_DEFAULT_REGION"}, "region");
  if (access.region.empty()) access.region = "us-east-1";
  const auto in_region = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (!std::all_of(access.region.begin(), access.region.end(), in_region))
    throw Error(Code::setting, "the region '{}' (AWS_REGION) is no name of one, such as eu-central-1",
                access.region);
  access.endpoint = or_else({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, "endpoint_url");
  access.ca_bundle = or_else({"AWS_CA_BUNDLE"}, "ca_bundle");
  return access;
}

}  // namespace shoal
