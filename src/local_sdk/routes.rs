//! The HTTP side's paths, methods and bodies, as Agones' gateway understands
//! them: a method, a path and bytes in, a call out. Pure.

use std::time::Duration;

use serde_json::{Map, Value};

use super::request::{Code, Refusal, Request};
use crate::sdk::proto::{FieldMask, beta, sdk};

/// An API server that is away for an hour is one for a drill.
const MAX_API_DELAY: f64 = 3600.0;

/// What an HTTP request asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Route {
    /// One call.
    Call(Request),
    /// So many beats, one for each JSON value in the body; none is a 400
    /// without a body.
    Beats(usize),
    /// A stream of GameServers.
    Watch,
    /// The calls seen so far.
    Calls,
    /// The page for people.
    Page,
    /// The stream of frames that it lives by.
    View,
}

/// Understands a request.
///
/// # Errors
/// The path, the method or the body is wrong.
pub fn route(method: &str, target: &str, body: &[u8]) -> Result<Route, Refusal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (allowed, route): (&str, Route) = match path {
        "/ready" | "/allocate" | "/shutdown" => {
            require(method, "POST")?;
            read(body)?;
            let request = match path {
                "/ready" => Request::Ready,
                "/allocate" => Request::Allocate,
                _ => Request::Shutdown,
            };
            return Ok(Route::Call(request));
        }
        "/reserve" => {
            require(method, "POST")?;
            return Ok(Route::Call(Request::Reserve(read(body)?.int64("seconds")?.unwrap_or(0))));
        }
        "/health" => {
            require(method, "POST")?;
            let beats = serde_json::Deserializer::from_slice(body).into_iter::<Map<String, Value>>();
            return beats.collect::<Result<Vec<_>, _>>().map(|beats| Route::Beats(beats.len())).map_err(broken_json);
        }
        "/metadata/label" | "/metadata/annotation" => {
            require(method, "PUT")?;
            let body = read(body)?;
            let pair = sdk::KeyValue { key: body.string("key")?, value: body.string("value")? };
            let request = if path == "/metadata/label" { Request::SetLabel } else { Request::SetAnnotation };
            return Ok(Route::Call(request(pair)));
        }
        "/gameserver" => ("GET", Route::Call(Request::GetGameServer)),
        "/watch/gameserver" => ("GET", Route::Watch),
        "/" => ("GET", Route::Page),
        "/local/calls" => ("GET", Route::Calls),
        "/local/watch" => ("GET", Route::View),
        "/local/allocate" => ("POST", Route::Call(Request::LocalAllocate)),
        "/local/unhealthy" => ("POST", Route::Call(Request::LocalUnhealthy)),
        "/local/delete" => ("POST", Route::Call(Request::LocalDelete)),
        "/local/fleet-scale-down" => ("GET", Route::Call(Request::LocalFleetScaleDown)),
        "/local/reset" => ("POST", Route::Call(Request::LocalReset)),
        "/local/api-delay" => {
            require(method, "POST")?;
            return api_delay(body).map(|delay| Route::Call(Request::LocalApiDelay(delay)));
        }
        _ => return beta_route(method, path, query, body).map(Route::Call),
    };
    require(method, allowed)?;
    Ok(route)
}

/// So many seconds, as plain text or as `{"seconds": 5}`.
fn api_delay(body: &[u8]) -> Result<Duration, Refusal> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => Some(seconds),
        Err(_) => read(body)?.get("seconds").as_f64(),
    };
    let bounded = seconds.filter(|seconds| (0.0..=MAX_API_DELAY).contains(seconds));
    bounded.map(Duration::from_secs_f64).ok_or_else(|| {
        invalid(format!("{text:?} is not a number of seconds from 0 to {MAX_API_DELAY}: write 5 or {{\"seconds\":5}}"))
    })
}

fn beta_route(method: &str, path: &str, query: &str, body: &[u8]) -> Result<Request, Refusal> {
    if let Some(name) = path.strip_prefix("/v1beta1/counters/").and_then(segment) {
        return match method {
            "GET" => Ok(Request::GetCounter(name)),
            "PATCH" => {
                let body = read(body)?;
                Ok(Request::UpdateCounter(Some(beta::CounterUpdateRequest {
                    name,
                    count: body.int64("count")?,
                    capacity: body.int64("capacity")?,
                    count_diff: body.int64("countDiff")?.unwrap_or(0),
                })))
            }
            _ => Err(wrong_method()),
        };
    }
    let Some(rest) = path.strip_prefix("/v1beta1/lists/") else {
        return Err(Refusal { code: Code::NotFound, message: "Not Found".to_owned() });
    };
    if let Some(name) = rest.strip_suffix(":addValue").and_then(segment) {
        require(method, "POST")?;
        return Ok(Request::AddListValue(beta::AddListValueRequest { name, value: read(body)?.string("value")? }));
    }
    if let Some(name) = rest.strip_suffix(":removeValue").and_then(segment) {
        require(method, "POST")?;
        return Ok(Request::RemoveListValue(beta::RemoveListValueRequest {
            name,
            value: read(body)?.string("value")?,
        }));
    }
    let Some(name) = segment(rest) else {
        return Err(Refusal { code: Code::NotFound, message: "Not Found".to_owned() });
    };
    match method {
        "GET" => Ok(Request::GetList(name)),
        "PATCH" => {
            let body = read(body)?;
            let paths = mask_of(query).unwrap_or_else(|| body.0.keys().cloned().collect());
            let list =
                beta::List { name, capacity: body.int64("capacity")?.unwrap_or(0), values: body.strings("values")? };
            Ok(Request::UpdateList(beta::UpdateListRequest {
                list: Some(list),
                update_mask: Some(FieldMask { paths }),
            }))
        }
        _ => Err(wrong_method()),
    }
}

/// The mask in the query; without one, the body's own fields are the mask.
fn mask_of(query: &str) -> Option<Vec<String>> {
    let value = query.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        matches!(name, "updateMask" | "update_mask").then_some(value)
    })?;
    let paths = unescape(value)?;
    Some(paths.split(',').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// A name in a path: one segment, not empty, escapes resolved.
fn segment(text: &str) -> Option<String> {
    if text.is_empty() || text.contains('/') { None } else { unescape(text) }
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(if byte == b'%' { u8::try_from(digit()? * 16 + digit()?).ok()? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

fn require(method: &str, allowed: &str) -> Result<(), Refusal> {
    if method == allowed { Ok(()) } else { Err(wrong_method()) }
}

fn wrong_method() -> Refusal {
    Refusal { code: Code::Unimplemented, message: "Method Not Allowed".to_owned() }
}

fn invalid(message: String) -> Refusal {
    Refusal { code: Code::InvalidArgument, message }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn broken_json(error: serde_json::Error) -> Refusal {
    invalid(format!("the body is not the JSON that was expected: {error}"))
}

/// The fields of a message in JSON. Unknown ones are ignored, null is unset.
struct Fields(Map<String, Value>);

/// The first JSON value of a body. Nothing at all stands for `{}`.
fn read(body: &[u8]) -> Result<Fields, Refusal> {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<Map<String, Value>>();
    values.next().unwrap_or_else(|| Ok(Map::new())).map(Fields).map_err(broken_json)
}

impl Fields {
    fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    fn string(&self, name: &str) -> Result<String, Refusal> {
        match self.get(name) {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.clone()),
            other => Err(invalid(format!("invalid value for string field {name}: {other}"))),
        }
    }

    /// A 64 bit number: as a string, or as a number where JSON can hold it.
    fn int64(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let value = self.get(name);
        let number = match value {
            Value::Null => return Ok(None),
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| invalid(format!("invalid value for int64 field {name}: {value}")))
    }

    fn strings(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let wrong = || invalid(format!("invalid value for the list of strings {name}"));
        match self.get(name) {
            Value::Null => Ok(Vec::new()),
            Value::Array(values) => {
                values.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, target: &str, body: &str) -> Request {
        match route(method, target, body.as_bytes()) {
            Ok(Route::Call(request)) => request,
            other => panic!("{method} {target} {body}: {other:?}"),
        }
    }

    #[test]
    fn every_path_finds_its_call() {
        for (method, target, body, wanted) in [
            ("POST", "/ready", "{}", "Ready"),
            ("POST", "/ready", "", "Ready"),
            ("POST", "/allocate", "{}", "Allocate"),
            ("POST", "/shutdown?x=1", "{}", "Shutdown"),
            ("POST", "/reserve", "{\"seconds\":\"30\"}", "Reserve seconds=\"30\""),
            ("POST", "/reserve", "{\"seconds\":30,\"x\":[]}", "Reserve seconds=\"30\""),
            ("POST", "/reserve", "{}", "Reserve seconds=\"0\""),
            ("GET", "/gameserver", "", "GetGameServer"),
            ("PUT", "/metadata/label", "{\"key\":\"k\",\"value\":\"v\"}", "SetLabel key=\"k\" value=\"v\""),
            ("PUT", "/metadata/annotation", "{\"key\":\"k\"}", "SetAnnotation key=\"k\" value=\"\""),
            ("GET", "/v1beta1/counters/rooms", "", "GetCounter name=\"rooms\""),
            ("GET", "/v1beta1/counters/a%20b", "", "GetCounter name=\"a b\""),
            ("PATCH", "/v1beta1/counters/rooms", "{\"count\":\"5\"}", "UpdateCounter name=\"rooms\" count=\"5\""),
            ("PATCH", "/v1beta1/counters/rooms", "{\"capacity\":9}", "UpdateCounter name=\"rooms\" capacity=\"9\""),
            (
                "PATCH",
                "/v1beta1/counters/rooms",
                "{\"countDiff\":\"-2\"}",
                "UpdateCounter name=\"rooms\" countDiff=\"-2\"",
            ),
            ("PATCH", "/v1beta1/counters/rooms", "{\"count\":null}", "UpdateCounter name=\"rooms\""),
            ("GET", "/v1beta1/lists/names", "", "GetList name=\"names\""),
            ("PATCH", "/v1beta1/lists/names", "{\"capacity\":\"5\"}", "UpdateList name=\"names\" capacity=\"5\""),
            ("PATCH", "/v1beta1/lists/names", "{\"values\":[\"a\",\"b\"]}", "UpdateList name=\"names\" values=\"a,b\""),
            (
                "PATCH",
                "/v1beta1/lists/names?updateMask=values%2Ccapacity",
                "{\"capacity\":\"5\"}",
                "UpdateList name=\"names\" capacity=\"5\" values=\"\"",
            ),
            ("POST", "/v1beta1/lists/names:addValue", "{\"value\":\"a\"}", "AddListValue name=\"names\" value=\"a\""),
            (
                "POST",
                "/v1beta1/lists/names:removeValue",
                "{\"value\":\"a\"}",
                "RemoveListValue name=\"names\" value=\"a\"",
            ),
            ("POST", "/local/allocate", "", "local/allocate"),
            ("POST", "/local/unhealthy", "", "local/unhealthy"),
            ("POST", "/local/delete", "", "local/delete"),
            ("GET", "/local/fleet-scale-down", "", "local/fleet-scale-down"),
            ("POST", "/local/reset", "", "local/reset"),
            ("POST", "/local/api-delay", "2.5", "local/api-delay seconds=\"2.5\""),
            ("POST", "/local/api-delay", "{\"seconds\":30}", "local/api-delay seconds=\"30\""),
        ] {
            assert_eq!(call(method, target, body).to_string(), wanted, "{method} {target} {body}");
        }
        assert_eq!(route("GET", "/watch/gameserver", b""), Ok(Route::Watch));
        assert_eq!(route("GET", "/local/calls", b""), Ok(Route::Calls));
        assert_eq!(route("GET", "/?x", b""), Ok(Route::Page));
        assert_eq!(route("GET", "/local/watch", b""), Ok(Route::View));
    }

    #[test]
    fn each_json_value_on_health_is_a_beat() {
        for (body, wanted) in [("", 0), ("{}", 1), ("{}{}\n{}", 3)] {
            assert_eq!(route("POST", "/health", body.as_bytes()), Ok(Route::Beats(wanted)), "{body:?}");
        }
    }

    #[test]
    fn wrong_paths_methods_and_bodies_get_the_gateways_codes() {
        for (method, target, body, code) in [
            ("POST", "/", "", Code::Unimplemented),
            ("POST", "/local/watch", "", Code::Unimplemented),
            ("POST", "/ready/", "{}", Code::NotFound),
            ("GET", "/v1beta1/counters/", "", Code::NotFound),
            ("GET", "/v1beta1/counters/a/b", "", Code::NotFound),
            ("GET", "/v1beta1/counters/%ff", "", Code::NotFound),
            ("GET", "/v1beta1/counters/%4", "", Code::NotFound),
            ("GET", "/v1beta1/lists/", "", Code::NotFound),
            ("GET", "/ready", "", Code::Unimplemented),
            ("POST", "/gameserver", "{}", Code::Unimplemented),
            ("GET", "/health", "", Code::Unimplemented),
            ("POST", "/metadata/label", "{}", Code::Unimplemented),
            ("PUT", "/v1beta1/counters/a", "{}", Code::Unimplemented),
            ("DELETE", "/v1beta1/lists/a", "", Code::Unimplemented),
            ("GET", "/v1beta1/lists/a:addValue", "", Code::Unimplemented),
            ("POST", "/local/fleet-scale-down", "", Code::Unimplemented),
            ("GET", "/local/api-delay", "5", Code::Unimplemented),
            ("POST", "/local/api-delay", "", Code::InvalidArgument),
            ("POST", "/local/api-delay", "-1", Code::InvalidArgument),
            ("POST", "/local/api-delay", "nan", Code::InvalidArgument),
            ("POST", "/local/api-delay", "1e9", Code::InvalidArgument),
            ("POST", "/ready", "{", Code::InvalidArgument),
            ("POST", "/ready", "[]", Code::InvalidArgument),
            ("POST", "/health", "{}x", Code::InvalidArgument),
            ("POST", "/reserve", "{\"seconds\":\"x\"}", Code::InvalidArgument),
            ("POST", "/reserve", "{\"seconds\":1.5}", Code::InvalidArgument),
            ("PUT", "/metadata/label", "{\"key\":5}", Code::InvalidArgument),
            ("PATCH", "/v1beta1/counters/a", "{\"count\":\"99999999999999999999\"}", Code::InvalidArgument),
            ("PATCH", "/v1beta1/lists/a", "{\"values\":[1]}", Code::InvalidArgument),
            ("PATCH", "/v1beta1/lists/a", "{\"values\":\"a\"}", Code::InvalidArgument),
        ] {
            let refusal = route(method, target, body.as_bytes()).expect_err(target);
            assert_eq!(refusal.code, code, "{method} {target} {body}: {}", refusal.message);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_request_makes_it_panic(method in "[A-Z]{1,7}", target in "(/v1beta1/(lists|counters)|/health)?[/%a-f0-9:?=&]{0,30}", body in "[{}\\[\\]\",:a-z0-9\\\\.-]{0,40}") {
            let _ = route(&method, &target, body.as_bytes());
        }
    }
}
