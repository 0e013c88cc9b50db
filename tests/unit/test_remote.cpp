// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "storage/remote/answers.hpp"
#include "storage/remote/back_off.hpp"
#include "storage/remote/byte_ranges.hpp"
#include "storage/remote/credentials.hpp"
#include "storage/remote/digest.hpp"
#include "storage/remote/in_parallel.hpp"
#include "storage/remote/object_bytes.hpp"
#include "storage/remote/remote.hpp"
#include "storage/remote/url.hpp"
#include "support/folder.hpp"

using namespace shoal;
using shoal::testing::Folder;

namespace {

/// An environment of these variables alone.
VariableFinder environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

Status failure_of(const std::function<void()>& work) {
  return caught(work);
}

}  // namespace

TEST_CASE("remote: which paths are on servers, and how they are shown") {
  for (const char* path : {"s3://b/x", "http://h/x", "https://h/x", "HTTPS://h/x"})
    CHECK(is_remote(path));
  for (const char* path : {"", "s3:/b", "his.zarr", "/s3://b/x", "ftp://h/x", "S3://b", "s3", "./http://h"})
    CHECK_FALSE(is_remote(path));
  CHECK(shown_path("https://user:pass@host:80/a/b.nc?X-Amz-Signature=abc#f") == "https://host:80/a/b.nc");
  CHECK(shown_path("https://host/a@b/c") == "https://host/a@b/c");
  CHECK(shown_path("s3://KEY:SECRET@bucket/a?b#c") == "s3://bucket/a?b#c");
  CHECK(shown_path("s3://bucket/a@b") == "s3://bucket/a@b");
  CHECK(shown_path("/data/a?b@c") == "/data/a?b@c");
}

TEST_CASE("remote: URLs of s3") {
  const S3Url url = parse_s3_url("s3://my.bucket-1//a b/%41?c#d/");
  CHECK(url.bucket == "my.bucket-1");
  CHECK(url.key == "a b/%41?c#d");
  CHECK(parse_s3_url("s3://bucket").key.empty());
  CHECK(parse_s3_url("s3://bucket///").key.empty());
  for (const char* bad :
       {"s3://", "s3:///a", "s3://a b/c", "s3://../c", "s3://./c", "s3://a\n/c", "s3://ü/c"})
    CHECK(failure_of([&] { parse_s3_url(bad); }).code == Code::invalid_argument);
  const Status login = failure_of([&] { parse_s3_url("s3://KEY:hidden@bucket/a"); });
  CHECK(login.code == Code::invalid_argument);
  CHECK(login.message.find("hidden") == std::string::npos);
}

TEST_CASE("remote: the address of a bucket") {
  CHECK(bucket_url("bkt", "eu-west-1", "") == "https://bkt.s3.eu-west-1.amazonaws.com");
  CHECK(bucket_url("b.kt", "eu-west-1", "") == "https://s3.eu-west-1.amazonaws.com/b.kt");
  CHECK(bucket_url("bkt", "cn-north-1", "") == "https://bkt.s3.cn-north-1.amazonaws.com.cn");
  CHECK(bucket_url("bkt", "x", "http://127.0.0.1:9000/") == "http://127.0.0.1:9000/bkt");
  CHECK(bucket_url("bkt", "x", "https://h.org/store//") == "https://h.org/store/bkt");
  CHECK(bucket_url("bkt", "x", "https://s3.x.amazonaws.com") == "https://bkt.s3.x.amazonaws.com");
  CHECK(bucket_url("b.kt", "x", "https://s3.x.amazonaws.com") == "https://s3.x.amazonaws.com/b.kt");
  for (const char* bad :
       {"h.org", "ftp://h", "https://", "https://u:secret@h", "https://h?a=secret", "https://h x"}) {
    const Status status = failure_of([&] { bucket_url("bkt", "x", bad); });
    CHECK(status.code == Code::invalid_argument);
    CHECK(status.message.find("secret") == std::string::npos);
  }
}

TEST_CASE("remote: URLs of http") {
  const HttpUrl url = parse_http_url("https://me:pa%2Bss@host:8080/a b/his.zarr/?sig=abc#top");
  CHECK(url.base == "https://me:pa%2Bss@host:8080/a%20b/his.zarr");
  CHECK(url.shown == "https://host:8080/a%20b/his.zarr");
  CHECK(url.of("temp/c/0 0") == "https://me:pa%2Bss@host:8080/a%20b/his.zarr/temp/c/0%200?sig=abc");
  CHECK(url.of("") == "https://me:pa%2Bss@host:8080/a%20b/his.zarr?sig=abc");
  CHECK(url.shown_of("x") == "https://host:8080/a%20b/his.zarr/x");
  for (const char* secret : {"pa%2Bss", "pa+ss", "sig=abc"})
    CHECK(std::find(url.secrets.begin(), url.secrets.end(), secret) != url.secrets.end());
  CHECK(parse_http_url("http://host").of("a") == "http://host/a");
  CHECK(parse_http_url("http://host/é").base == "http://host/%C3%A9");
  for (const char* bad : {"http://", "https:///a", "http://?a", "http://u:p@/a"})
    CHECK(failure_of([&] { parse_http_url(bad); }).code == Code::invalid_argument);
}

TEST_CASE("remote: what is signed is sorted and encoded") {
  CHECK(canonical_query({{"uploadId", "a/b+c=="}, {"partNumber", "7"}, {"uploads", ""}}) ==
        "partNumber=7&uploadId=a%2Fb%2Bc%3D%3D&uploads=");
  CHECK(percent_encoded("a/b c~é%", true) == "a/b%20c~%C3%A9%25");
  CHECK(percent_encoded("a/b", false) == "a%2Fb");
  std::string all;
  for (int c = 0; c < 256; ++c)
    all += static_cast<char>(c);
  CHECK(percent_decoded(percent_encoded(all, false), true) == all);
  CHECK(percent_decoded("a+b%2Bc", true) == "a b+c");
  CHECK(percent_decoded("a+b", false) == "a+b");
  for (const char* bad : {"%", "a%4", "%zz", "%4z"})
    CHECK_FALSE(percent_decoded(bad, false).has_value());
}

TEST_CASE("remote: credentials of the environment and of files") {
  const Folder folder;
  const std::string shared = folder.file("credentials");
  const std::string config = folder.file("config");
  write_text(
      shared,
      "# mine\n[default]\naws_access_key_id = DEFAULTID\r\naws_secret_access_key=default=secret\n\n"
      "[ work ]\naws_access_key_id=WORKID\naws_secret_access_key = worksecret\naws_session_token= worktoken\n"
      "[half]\naws_access_key_id=HALFID\n");
  write_text(
      config,
      "[default]\nregion=eu-west-3\ns3 =\n  endpoint_url = http://nested\n[profile work]\nregion = "
      "us-west-2\n"
      "endpoint_url = https://objects.org\n[profile sso]\nsso_start_url = https://x\n[work]\nregion=wrong\n");
  const std::map<std::string, std::string> files{{"AWS_SHARED_CREDENTIALS_FILE", shared},
                                                 {"AWS_CONFIG_FILE", config}};
  const auto found_by = [&](std::map<std::string, std::string> variables) {
    variables.insert(files.begin(), files.end());
    return find_s3_access(environment_of(variables));
  };
  const S3Access usual = found_by({});
  CHECK(usual.key_id == "DEFAULTID");
  CHECK(usual.secret == "default=secret");
  CHECK(usual.token.empty());
  CHECK(usual.region == "eu-west-3");
  CHECK(usual.endpoint.empty());
  const S3Access work = found_by({{"AWS_PROFILE", "work"}});
  CHECK(work.key_id == "WORKID");
  CHECK(work.token == "worktoken");
  CHECK(work.region == "us-west-2");
  CHECK(work.endpoint == "https://objects.org");
  const S3Access environment = found_by({{"AWS_PROFILE", "work"},
                                         {"AWS_ACCESS_KEY_ID", "ENVID"},
                                         {"AWS_SECRET_ACCESS_KEY", "envsecret"},
                                         {"AWS_DEFAULT_REGION", "r1"},
                                         {"AWS_ENDPOINT_URL", "http://e1"},
                                         {"AWS_CA_BUNDLE", "/ca.pem"}});
  CHECK(environment.key_id == "ENVID");
  CHECK(environment.token.empty());  // the profile's belongs to other keys
  CHECK(environment.region == "r1");
  CHECK(environment.endpoint == "http://e1");
  CHECK(environment.ca_bundle == "/ca.pem");
  CHECK(found_by({{"AWS_REGION", "r2"}, {"AWS_DEFAULT_REGION", "r1"}}).region == "r2");
  CHECK(found_by({{"AWS_ENDPOINT_URL_S3", "http://e2"}, {"AWS_ENDPOINT_URL", "http://e1"}}).endpoint ==
        "http://e2");

  const auto fails = [&](std::map<std::string, std::string> variables, const std::string& says) {
    const Status status = failure_of([&] { found_by(std::move(variables)); });
    CHECK(status.code == Code::setting);
    CHECK(status.message.find(says) != std::string::npos);
    for (const char* secret : {"envsecret", "ENVID", "HALFID", "worksecret"})
      CHECK(status.text().find(secret) == std::string::npos);
  };
  fails({{"AWS_PROFILE", "none"}}, "neither");
  fails({{"AWS_PROFILE", "half"}}, "aws_secret_access_key");
  fails({{"AWS_PROFILE", "sso"}}, "export-credentials");
  fails({{"AWS_ACCESS_KEY_ID", "ENVID"}}, "AWS_SECRET_ACCESS_KEY");
  fails({{"AWS_SECRET_ACCESS_KEY", "envsecret"}}, "AWS_ACCESS_KEY_ID");
  fails({{"AWS_ACCESS_KEY_ID", "ENVID"}, {"AWS_SECRET_ACCESS_KEY", "envsecret\nHost: other"}}, "secret key");
  fails({{"AWS_REGION", "a:b"}}, "region");

  const S3Access nobody = find_s3_access(environment_of({{"HOME", folder.file("none")}}));
  CHECK(nobody.is_anonymous());
  CHECK(nobody.region == "us-east-1");
  const Status missing = failure_of([&] {
    find_s3_access(environment_of({{"AWS_CONFIG_FILE", folder.file("none")}}));
  });
  CHECK(missing.code == Code::setting);
}

TEST_CASE("remote: waits before another try grow to a limit, and which errors are worth one") {
  CHECK(longest_wait(2) > 0);
  for (int t = 2; t < 100; ++t) {
    CHECK(longest_wait(t + 1) >= longest_wait(t));
    CHECK(longest_wait(t) <= 20);
  }
  CHECK(longest_wait(3) == doctest::Approx(2 * longest_wait(2)));
  for (const long status : {408, 429, 500, 502, 503, 504})
    CHECK(may_pass(status, ""));
  for (const long status : {200, 301, 400, 401, 403, 404, 409, 412, 416, 501, 507})
    CHECK_FALSE(may_pass(status, ""));
  CHECK(may_pass(400, "RequestTimeout"));
  CHECK(may_pass(status_of_code("InternalError"), ""));
  CHECK(may_pass(status_of_code("SlowDown"), ""));
  CHECK_FALSE(may_pass(status_of_code("PreconditionFailed"), ""));
  CHECK_FALSE(may_pass(status_of_code("NoSuchUpload"), ""));
}

TEST_CASE("remote: ranges of bytes, against a set of bytes") {
  std::minstd_rand random(7);
  for (int round = 0; round < 200; ++round) {
    ByteRanges ranges;
    std::vector<bool> bytes(64);
    const auto check = [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<bool> missing(64);
      std::uint64_t before = 0;
      for (const auto& [first, last] : ranges.gaps(begin, end)) {
        CHECK(first < last);
        CHECK((before == 0 || first > before));
        before = last;
        std::fill(missing.begin() + static_cast<long>(first), missing.begin() + static_cast<long>(last),
                  true);
      }
      std::vector<bool> expected(64);
      for (std::uint64_t i = begin; i < end; ++i)
        expected[i] = !bytes[i];
      CHECK(missing == expected);
    };
    for (int step = 0; step < 8; ++step) {
      const std::uint64_t begin = random() % 64;
      const std::uint64_t end = std::min<std::uint64_t>(64, begin + random() % 16);
      if (random() % 5 == 0) {
        ranges.cut(begin);
        std::fill(bytes.begin() + static_cast<long>(begin), bytes.end(), false);
      } else {
        ranges.add(begin, end);
        std::fill(bytes.begin() + static_cast<long>(begin), bytes.begin() + static_cast<long>(end), true);
      }
      check(0, 64);
      check(begin, end);
      check(end / 2, 60);
    }
  }
}

TEST_CASE("remote: the memory of an object grows with zeros, and not without end") {
  ObjectBytes bytes;
  bytes.resize(10, 10);
  CHECK(
      std::all_of(bytes.bytes().begin(), bytes.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
  bytes.bytes()[9] = std::byte{1};
  bytes.resize(5, 5);
  bytes.resize(10, 10);
  CHECK(bytes.bytes()[9] == std::byte{0});
  CHECK(failure_of([&] { bytes.resize(std::uint64_t{1} << 60, 0); }).code == Code::no_space);
  CHECK(bytes.size() == 10);
}

TEST_CASE("remote: threads share work, and the first error comes out") {
  std::vector<int> done(100);
  in_parallel(done.size(), 4, [&](std::size_t i) { done[i] += 1; });
  CHECK(std::all_of(done.begin(), done.end(), [](int n) { return n == 1; }));
  in_parallel(0, 4, [](std::size_t) { throw Error(Code::io, "no work"); });
  const Status status = failure_of([&] {
    in_parallel(100, 4, [&](std::size_t i) {
      if (i == 50) throw Error(Code::no_space, "full");
    });
  });
  CHECK(status.code == Code::no_space);
}

#ifdef SHOAL_HAVE_CURL
namespace {

const std::string k_list_begin =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://x/\">";

}  // namespace

TEST_CASE("remote: sums") {
  const std::string abc = "abc";
  CHECK(sha256_digits(std::as_bytes(std::span(abc))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_digits({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(md5_base64(std::as_bytes(std::span(abc))) == "kAFQmDzST7DWlj99KOF/cg==");
}

TEST_CASE("remote: a list of objects in XML") {
  const ObjectPage page = parse_object_page(
      "\n  " + k_list_begin.substr(k_list_begin.find("<List")) +
      "<IsTruncated>true</IsTruncated><EncodingType>url</EncodingType><Contents><Key>a+b%2B%25</"
      "Key><Owner><ID>Key</ID>"
      "</Owner></Contents><Contents><Key>x/&amp;</Key></Contents><CommonPrefixes><Prefix>f+g/</Prefix>"
      "</CommonPrefixes><Prefix>p</Prefix><NextContinuationToken>t/1==</NextContinuationToken></"
      "ListBucketResult>");
  CHECK(page.keys == std::vector<std::string>{"a b+%", "x/&"});
  CHECK(page.folders == std::vector<std::string>{"f g/"});
  CHECK(page.next == "t/1==");
  const ObjectPage last =
      parse_object_page(k_list_begin +
                        "<IsTruncated>false</IsTruncated><Contents><Key>a+b</Key></Contents>"
                        "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>");
  CHECK(last.keys == std::vector<std::string>{"a+b"});
  CHECK(last.next.empty());
}

TEST_CASE("remote: what is no answer of an object store is refused") {
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "<a>";
  const std::vector<std::string> bad{
      "",
      "not xml",
      "<html><body>Log in</body></html>",
      "{\"json\": 1}",
      k_list_begin,
      k_list_begin + "<IsTruncated>true</IsTruncated></ListBucketResult>",
      k_list_begin + "<EncodingType>url</EncodingType><Contents><Key>%4</Key></Contents></ListBucketResult>",
      k_list_begin + "</ListBucketResult><more/>",
      k_list_begin + std::string(100000, '<'),
      k_list_begin + "<" + std::string(100000, 'n') + "/></ListBucketResult>",
      k_list_begin + "&undefined;</ListBucketResult>",
      k_list_begin + "\xff\xfe</ListBucketResult>",
      deep,
      "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><ListBucketResult>&b;"
      "</ListBucketResult>",
      "<!DOCTYPE l [<!ENTITY x SYSTEM "
      "\"file:///etc/passwd\">]><ListBucketResult><Contents><Key>&x;</Key></Contents>"
      "</ListBucketResult>",
  };
  for (const std::string& text : bad) {
    CAPTURE(text.substr(0, 100));
    CHECK(failure_of([&] { parse_object_page(text); }).code == Code::format);
    CHECK(failure_of([&] { parse_removal(text); }).code == Code::format);
    CHECK(failure_of([&] { text_of_element(text, "A/B"); }).code == Code::format);
    CHECK(parse_server_error(text).code.empty());
  }
  // Any prefix, and any byte that is another one: taken or refused, nothing else.
  const std::string good = k_list_begin + "<Contents><Key>a&lt;b</Key></Contents></ListBucketResult>";
  std::minstd_rand random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    text[random() % text.size()] = static_cast<char>(random());
    if (i % 3 == 0) text.resize(random() % text.size());
    const Status status = failure_of([&] { parse_object_page(text); });
    CHECK((status.ok() || status.code == Code::format));
  }
}

TEST_CASE("remote: errors in XML") {
  const ServerError error = parse_server_error(
      "<Error><Code>SlowDown</Code><Message>Please  "
      "wait</Message><Region>eu-west-1</Region><RequestId/></Error>");
  CHECK(error.code == "SlowDown");
  CHECK(error.message == "Please  wait");
  CHECK(error.region == "eu-west-1");
  const auto errors = parse_removal(
      "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code><Message>No</Message></"
      "Error><Deleted><Key>b</Key>"
      "</Deleted><Error><Code>InternalError</Code><Key>c</Key></Error></DeleteResult>");
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].message == "No");
  CHECK(errors[1].code == "InternalError");
  CHECK(parse_removal("<DeleteResult/>").empty());
  CHECK(text_of_element("<a><b>x</b></a>", "a/b") == "x");
  CHECK(xml_escaped("<a&\"b\">\r") == "&lt;a&amp;&quot;b&quot;&gt;&#13;");
}
#else
TEST_CASE("remote: without libcurl, it says so") {
  for (const char* url : {"s3://b/x", "https://user:secret@h/x"}) {
    const Status status = failure_of([&] { remote_container(url); });
    CHECK(status.code == Code::not_supported);
    CHECK(status.text().find("built without libcurl") != std::string::npos);
    CHECK(status.text().find("secret") == std::string::npos);
    CHECK(failure_of([&] { open_remote_store(url, StoreMode::read); }).code == Code::not_supported);
  }
}
#endif
