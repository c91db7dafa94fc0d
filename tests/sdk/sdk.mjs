// The providers' own libraries as the other side of a test: they sign what they can sign, and confirm all of it, also that
// they refuse what was changed. Started as `node sdk.mjs SEED`: one line of JSON says what each source needs, then each line
// on stdin is {"provider", "n"} and is answered by n requests, one a line: {provider, kind, method, query, headers, body
// (base64), confirmed}. kind: "signed" as it is, "body" or "signature" with one byte changed. n = 0: its header written in other
// ways and clocks that are wrong, kind says which, up to a line {}. Requests are made when they are
// asked for: Paddle's are good for five seconds.
import { createHash, createHmac, generateKeyPairSync, sign as keySign } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const URL_BASE = 'https://hooks.example.com/hooks/';

// --- chance, by a seed that the test prints

let state = Number(process.argv[2]) >>> 0;
function chance(n) { // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = (list) => list[chance(list.length)];
const word = () => Array.from({ length: 1 + chance(12) }, () => pick('abcdefghijklmnopqrstuvwxyzABCDEF0123456789')).join('');

// Texts as they stand in JSON: raw UTF-8 of each length, and escapes that a parser would take away.
const TEXTS = ['é', 'ß', '漢字', '😀', '\u2028', '\ufeff', '\\u00e9', '\\ud83d\\ude00', '\\/', '\\"', '\\\\', '\\u0000', '\\n', '<', '&', ' ', 'ﬁ', 'e\u0301'];
const NUMBERS = ['9007199254740993', '98765432109876543210', '-0', '1e400', '0.1000', '1E+2', '123456789.123456789123456789', '0'];
const space = () => pick(['', '', ' ', '\n', '\t', '  ']);
const text = () => `"${Array.from({ length: chance(8) }, () => (chance(3) ? word() : pick(TEXTS))).join('')}"`;
function value(depth) {
  if (depth && chance(3) === 0) return `{${Array.from({ length: chance(4) }, (_, i) => `${space()}"k${i}":${space()}${value(depth - 1)}`).join(',')}}`;
  if (depth && chance(4) === 0) return `[${Array.from({ length: chance(4) }, () => value(depth - 1)).join(`,${space()}`)}]`;
  return chance(3) ? text() : pick([...NUMBERS, 'true', 'null']);
}
// An object with these members, as JSON text, and others among them.
const json = (members) => `{${Object.entries(members).map(([k, v]) => `${space()}"${k}":${space()}${JSON.stringify(v)},`).join('')}"any":${value(3)}${space()}}`;
const id = () => `id_${word()}${word()}`;

// --- signing that is not the libraries'

const mac = (key, data, how = 'hex', algorithm = 'sha256') => createHmac(algorithm, key).update(data).digest(how);
let shift = 0; // seconds by which the signer's clock is wrong
const nowMs = () => Date.now() + shift * 1000;
const nowS = () => Math.floor(nowMs() / 1000);
const secret = (n = 32) => Array.from({ length: n }, () => pick('abcdefghijklmnopqrstuvwxyz0123456789')).join('');
const base64Secret = () => 'whsec_' + createHash('sha256').update(secret()).digest('base64');
const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const der = (key) => key.publicKey.export({ type: 'spki', format: 'der' });
const rawEd25519 = der(ed25519).subarray(-32);

const yes = (fn) => async (...args) => { try { return (await fn(...args)) !== false; } catch { return false; } };
const plain = (members) => () => json({ id: id(), type: 'thing.done', ...members });
// One signature of the body in one header.
const inHeader = (header, key, how) => ({ secrets: [key], sign: (r) => ({ [header]: how(r.body) }) });

// --- the libraries

const stripe = new (require('stripe'))('sk_test_x');
const svix = require('svix');
const standard = require('standardwebhooks');
const octokit = await import('@octokit/webhooks-methods');
const twilio = require('twilio');
const { WebhooksHelper } = require('square');
const Adyen = require('@adyen/api-library').hmacValidator;
const razorpay = require('razorpay');
const { Paddle } = require('@paddle/paddle-node-sdk');
require('@shopify/shopify-api/adapters/node');
const { shopifyApi, ApiVersion, LogSeverity } = require('@shopify/shopify-api');
const discord = require('discord-interactions');
const { verifySlackRequest } = require('@slack/bolt');
const Mux = require('@mux/mux-node').default;
const line = require('@line/bot-sdk');
const { EventWebhook } = require('@sendgrid/eventwebhook');
const Telnyx = (await import('telnyx')).default;
const { WorkOS } = require('@workos-inc/node');
const coinbase = require('coinbase-commerce-node').Webhook;
const gocardless = require('gocardless-nodejs/webhooks');
const EasyPost = (await import('@easypost/api')).default;
const braintree = require('braintree');

const keys = { stripe: 'whsec_' + secret(), svix: base64Secret(), standard: base64Secret(), github: secret(), twilio: secret(), square: secret(),
  adyen: createHash('sha256').update(secret()).digest('hex').toUpperCase(), razorpay: secret(), paddle: 'pdl_ntfset_' + secret(),
  shopify: 'shpss_' + secret(), slack: secret(), mux: secret(), line: secret(), workos: secret(), coinbase: secret(), gocardless: secret(),
  easypost: 'sécret ﬁ ' + secret(), braintree: secret() };
const shopify = shopifyApi({ apiKey: 'k', apiSecretKey: keys.shopify, hostName: 'h.example', isEmbeddedApp: false, apiVersion: ApiVersion.January25,
  logger: { level: LogSeverity.Error, log: () => {} } });
const adyen = new Adyen();
const paddle = new Paddle('key');
const mux = new Mux({ tokenId: 'a', tokenSecret: 'b', webhookSecret: keys.mux });
const messages = new Telnyx('key').webhooks;
const workos = new WorkOS('sk_test');
const tree = new braintree.BraintreeGateway({ environment: braintree.Environment.Sandbox, merchantId: 'm', publicKey: 'public_key', privateKey: keys.braintree });
const easypost = new EasyPost('key');
const form = (pairs) => new URLSearchParams(pairs).toString();
const standardHeaders = (hook, start) => (r) => {
  const at = new Date(nowMs()), message = 'msg_' + word();
  return { [`${start}-id`]: message, [`${start}-timestamp`]: String(Math.floor(at / 1000)), [`${start}-signature`]: hook.sign(message, at, r.body) };
};

// Of each: the secrets of its source, a body, headers that sign it (r: {body, query}), the library's verdict on (r, headers).
// `by` says who signs. Where the body carries the signature itself, `body` makes it and `sign` adds nothing.
const PROVIDERS = {
  paddle: { by: 'node:crypto', secrets: [keys.paddle], body: plain({ event_id: id(), event_type: 'transaction.paid' }),
    sign: (r) => { const t = nowS(); return { 'Paddle-Signature': `ts=${t};h1=${mac(keys.paddle, `${t}:${r.body}`)}` }; },
    confirm: yes(async (r, h) => (await paddle.webhooks.isSignatureValid(r.text, keys.paddle, h['Paddle-Signature'])) === true) },
  stripe: { by: 'library', secrets: [keys.stripe], body: plain({}),
    sign: (r) => ({ 'Stripe-Signature': stripe.webhooks.generateTestHeaderString({ payload: r.body, secret: keys.stripe, timestamp: nowS() }) }),
    confirm: yes((r, h) => stripe.webhooks.constructEvent(r.raw, h['Stripe-Signature'], keys.stripe)) },
  svix: { by: 'library', secrets: [keys.svix], body: plain({}), sign: standardHeaders(new svix.Webhook(keys.svix), 'svix'),
    confirm: yes((r, h) => new svix.Webhook(keys.svix).verify(r.text, h)) },
  standardwebhooks: { by: 'library', secrets: [keys.standard], body: plain({}), sign: standardHeaders(new standard.Webhook(keys.standard), 'webhook'),
    confirm: yes((r, h) => new standard.Webhook(keys.standard).verify(r.text, h)) },
  github: { by: 'library', secrets: [keys.github], body: plain({}),
    sign: async (r) => ({ 'X-Hub-Signature-256': await octokit.sign(keys.github, r.body), 'X-GitHub-Delivery': id(), 'X-GitHub-Event': 'push' }),
    confirm: yes((r, h) => octokit.verify(keys.github, r.text, h['X-Hub-Signature-256'])) },
  twilio: { by: 'library', secrets: [keys.twilio], url: true, query: () => pick(['', '?a=b%20c', "?n=O'Hara+x", '?x=1&x=2&y=%C3%A9']),
    type: 'application/x-www-form-urlencoded', flip: 'MessageSid=SM',
    body: () => form([['MessageSid', 'SM' + createHash('md5').update(word()).digest('hex')], ['MessageStatus', 'sent'], ['To', '+49 30'], ['Body', pick(['é😀', 'a&b=c', '', 'x y+z', "it's"])],
      ['Multi', word()], ['Multi', word()], [word() + 'Z', word()]]),
    sign: (r) => ({ 'X-Twilio-Signature': twilio.getExpectedTwilioSignature(keys.twilio, r.url, params(r.body)) }),
    confirm: yes((r, h) => twilio.validateRequest(keys.twilio, h['X-Twilio-Signature'], r.url, params(r.text)) ||
      twilio.getExpectedTwilioSignature(keys.twilio, r.url, params(r.text)) === h['X-Twilio-Signature']) },
  square: { by: 'node:crypto', secrets: [keys.square], url: true, body: plain({ event_id: id(), merchant_id: 'M' }),
    sign: (r) => ({ 'x-square-hmacsha256-signature': mac(keys.square, r.url + r.body, 'base64') }),
    confirm: yes((r, h) => WebhooksHelper.isValidWebhookEventSignature(r.text, h['x-square-hmacsha256-signature'], keys.square, r.url)) },
  adyen: { by: 'library', secrets: [keys.adyen], body: adyenBody, sign: () => ({}), flip: '"merchantReference":"',
    signature: '"hmacSignature":"', confirm: yes((r) => JSON.parse(r.text).notificationItems.every((i) => adyen.validateHMAC(i.NotificationRequestItem, keys.adyen))) },
  razorpay: { by: 'node:crypto', ...inHeader('X-Razorpay-Signature', keys.razorpay, (b) => mac(keys.razorpay, b)), body: plain({ event: 'payment.captured' }),
    more: () => ({ 'x-razorpay-event-id': id() }), confirm: yes((r, h) => razorpay.validateWebhookSignature(r.text, h['X-Razorpay-Signature'], keys.razorpay)) },
  shopify: { by: 'node:crypto', ...inHeader('X-Shopify-Hmac-Sha256', keys.shopify, (b) => mac(keys.shopify, b, 'base64')), body: plain({}),
    more: () => ({ 'X-Shopify-Webhook-Id': id(), 'X-Shopify-Topic': 'orders/paid', 'X-Shopify-Shop-Domain': 's.myshopify.com', 'X-Shopify-API-Version': '2025-01' }),
    confirm: yes(async (r, h) => (await shopify.webhooks.validate({ rawBody: r.text, rawRequest: { headers: h, method: 'POST', url: '/' } })).valid) },
  discord: { by: 'node:crypto', secrets: [rawEd25519.toString('hex')], body: () => json({ type: 1, event: { type: 'APPLICATION_AUTHORIZED', timestamp: new Date().toISOString() } }),
    sign: (r) => { const t = String(nowS()); return { 'X-Signature-Ed25519': keySign(null, Buffer.from(t + r.body), ed25519.privateKey).toString('hex'), 'X-Signature-Timestamp': t }; },
    confirm: yes((r, h) => discord.verifyKey(r.raw, h['X-Signature-Ed25519'], h['X-Signature-Timestamp'], rawEd25519.toString('hex'))) },
  slack: { by: 'node:crypto', secrets: [keys.slack], body: plain({ event_id: id(), team_id: 'T1', event: { type: 'app_mention' } }),
    sign: (r) => { const t = nowS(); return { 'X-Slack-Signature': 'v0=' + mac(keys.slack, `v0:${t}:${r.body}`), 'X-Slack-Request-Timestamp': String(t) }; },
    confirm: yes((r, h) => verifySlackRequest({ signingSecret: keys.slack, body: r.text,
      headers: { 'x-slack-signature': h['X-Slack-Signature'], 'x-slack-request-timestamp': Number(h['X-Slack-Request-Timestamp']) } })) },
  mux: { by: 'node:crypto', secrets: [keys.mux], body: plain({}),
    sign: (r) => { const t = nowS(); return { 'Mux-Signature': `t=${t},v1=${mac(keys.mux, `${t}.${r.body}`)}` }; },
    confirm: yes((r, h) => mux.webhooks.verifySignature(r.text, { 'mux-signature': h['Mux-Signature'] }, keys.mux)) },
  line: { by: 'node:crypto', ...inHeader('x-line-signature', keys.line, (b) => mac(keys.line, b, 'base64')),
    body: () => json({ destination: 'U1', events: [{ type: 'message', webhookEventId: id(), timestamp: Date.now() }] }),
    confirm: yes((r, h) => line.validateSignature(r.raw, keys.line, h['x-line-signature'])) },
  sendgrid: { by: 'node:crypto', secrets: [der(p256).toString('base64')], body: () => `[${json({ sg_event_id: id(), event: 'delivered', timestamp: nowS() })}]\r\n`,
    sign: (r) => { const t = String(nowS()); return { 'X-Twilio-Email-Event-Webhook-Signature': keySign('sha256', Buffer.from(t + r.body), p256.privateKey).toString('base64'),
      'X-Twilio-Email-Event-Webhook-Timestamp': t }; },
    confirm: yes((r, h) => { const hook = new EventWebhook();
      return hook.verifySignature(hook.convertPublicKeyToECDSA(der(p256).toString('base64')), r.raw, h['X-Twilio-Email-Event-Webhook-Signature'], h['X-Twilio-Email-Event-Webhook-Timestamp']); }) },
  telnyx: { by: 'node:crypto', secrets: [rawEd25519.toString('base64')], body: () => json({ data: { id: id(), event_type: 'message.sent' } }),
    sign: (r) => { const t = String(nowS()); return { 'telnyx-signature-ed25519': keySign(null, Buffer.from(`${t}|${r.body}`), ed25519.privateKey).toString('base64'), 'telnyx-timestamp': t }; },
    confirm: yes((r, h) => messages.constructEvent(r.text, Buffer.from(h['telnyx-signature-ed25519'], 'base64'), h['telnyx-timestamp'], rawEd25519)) },
  // Its library parses the body and writes it again: only what that does not change can be compared.
  workos: { by: 'node:crypto', secrets: [keys.workos], body: () => JSON.stringify({ id: id(), event: 'user.created', data: { name: pick(['é', '😀', 'x']), n: chance(1e6) } }),
    sign: (r) => { const t = nowMs(); return { 'WorkOS-Signature': `t=${t}, v1=${mac(keys.workos, `${t}.${r.body}`)}` }; },
    confirm: yes((r, h) => workos.webhooks.verifyHeader({ payload: JSON.parse(r.text), sigHeader: h['WorkOS-Signature'], secret: keys.workos })) },
  'coinbase-commerce': { by: 'library', ...inHeader('X-CC-Webhook-Signature', keys.coinbase, (b) => coinbase.computeSignature(b, keys.coinbase)),
    body: plain({ event: { id: id(), type: 'charge:confirmed' } }), confirm: yes((r, h) => coinbase.verifySigHeader(r.text, h['X-CC-Webhook-Signature'], keys.coinbase)) },
  gocardless: { by: 'node:crypto', ...inHeader('Webhook-Signature', keys.gocardless, (b) => mac(keys.gocardless, b)),
    body: () => json({ events: [{ id: id(), resource_type: 'payments', action: 'confirmed', created_at: new Date().toISOString() }] }),
    confirm: yes((r, h) => gocardless.verifySignature(r.raw, keys.gocardless, h['Webhook-Signature'])) },
  easypost: { by: 'node:crypto', ...inHeader('X-Hmac-Signature', keys.easypost, (b) => 'hmac-sha256-hex=' + mac(keys.easypost.normalize('NFKD'), b)),
    body: plain({ description: 'tracker.updated', mode: 'test' }), confirm: yes((r, h) => easypost.Utils.validateWebhook(r.raw, h, keys.easypost)) },
  braintree: { by: 'library', secrets: [keys.braintree], type: 'application/x-www-form-urlencoded', flip: 'bt_payload=', signature: 'public_key%7C',
    body: async () => form(Object.entries(await tree.webhookTesting.sampleNotification(braintree.WebhookNotification.Kind.SubscriptionWentPastDue, id()))),
    sign: () => ({}), confirm: yes((r) => { const p = new URLSearchParams(r.text); return tree.webhookNotification.parse(p.get('bt_signature'), p.get('bt_payload')); }) },
};

function adyenBody() {
  const item = { additionalData: {}, amount: { currency: 'EUR', value: chance(1e6) }, eventCode: 'AUTHORISATION', eventDate: new Date().toISOString(),
    merchantAccountCode: 'Shop é', merchantReference: 'order-' + pick(['ß', '漢', '']) + word(), originalReference: '', pspReference: word() + word(), reason: text(), success: 'true' };
  item.additionalData.hmacSignature = adyen.calculateHmac(item, keys.adyen);
  return JSON.stringify({ live: 'false', notificationItems: [{ NotificationRequestItem: item }] });
}

// As express parses a form: several values of one name are a list.
function params(body) {
  const made = {};
  for (const [k, v] of new URLSearchParams(body)) made[k] = k in made ? [].concat(made[k], v) : v;
  return made;
}

// One bit of one byte of what is signed: anywhere, or behind `from` where some bytes mean the same (%c3 and %C3) or are not signed.
function changed(bytes, from) {
  const copy = Buffer.from(bytes);
  const at = from ? copy.indexOf(from) + from.length + chance(4) : chance(copy.length);
  copy[at] ^= 1 << chance(6);
  return copy;
}

// Another digit in its place: a signature of the same length and alphabet.
function otherDigit(value, from) {
  const at = from + chance(16);
  return value.slice(0, at) + (value[at] === '0' ? '1' : '0') + value.slice(at + 1);
}

const signatureOf = (headers) => Object.keys(headers).find((k) => /signature|hmac/i.test(k) && !/timestamp/i.test(k));
function forgedHeaders(headers) {
  const name = signatureOf(headers);
  return { ...headers, [name]: otherDigit(headers[name], headers[name].length - 20) };
}

function forgedBody(provider, bytes) {
  const words = bytes.toString();
  return Buffer.from(otherDigit(words, words.indexOf(provider.signature) + provider.signature.length));
}

async function told(name, kind, query, headers, raw) {
  const provider = PROVIDERS[name];
  const r = { raw, text: raw.toString(), url: URL_BASE + name + query };
  const confirmed = await provider.confirm(r, headers);
  console.log(JSON.stringify({ provider: name, by: provider.by, kind, query, headers: { 'Content-Type': provider.type ?? 'application/json', ...headers },
    body: raw.toString('base64'), confirmed }));
}

// Other ways to write a signature's header, whether or not the provider would: {name: value}.
function spellings(value) {
  const sep = [';', ', ', ','].find((one) => value.includes(one) && value.includes('=')) ?? null;
  const made = { twice: `${value},${value}`, longer: `${value}0`, shorter: value.slice(0, -1), upper: value.replace(/[0-9a-f]{40,}/, (hex) => hex.toUpperCase()),
    'no-prefix': value.replace(/^[a-z0-9-]+[=,]/, ''), quoted: `"${value}"`, 'space-inside': value.replace(/(.{4})$/, ' $1') };
  if (/^v1,/.test(value)) return Object.assign(made, { 'wrong-first': `v1,${'A'.repeat(43)}= ${value}`, 'wrong-last': `${value} v1,${'A'.repeat(43)}=`,
    'unknown-first': `v9,abc ${value}`, 'two-spaces': `v9,abc  ${value}`, 'v2-only': value.replace('v1', 'v2') });
  if (!sep) return made;
  const items = value.split(sep), wrong = items[1].replace(/=.*/, '=' + '0'.repeat(64));
  const joined = (list, by = sep) => list.join(by);
  return Object.assign(made, { reversed: joined([...items].reverse()), 'unknown-last': joined([...items, 'x9=abc']), 'unknown-between': joined([items[0], 'x9=abc', items[1]]),
    'wrong-first': joined([items[0], wrong, items[1]]), 'wrong-last': joined([...items, wrong]), 'no-time': items[1], 'no-signature': items[0],
    'spaces': joined(items, sep.trim() + ' '), 'no-spaces': joined(items, sep.trim()), 'sep-last': value + sep.trim(), 'zero-before-time': value.replace(/=(\d)/, '=0$1'),
    'plus-before-time': value.replace(/=(\d)/, '=+$1'), 'letters-behind-time': value.replace(/=(\d+)/, '=$1abc') });
}

// A genuine request, its header spelt otherwise; and one signed by a clock that is wrong.
async function variants(name) {
  const provider = PROVIDERS[name];
  const body = await provider.body(), raw = Buffer.from(body);
  const signed = async () => ({ ...(await provider.sign({ body, url: URL_BASE + name })), ...(provider.more ? provider.more() : {}) });
  const headers = await signed(), which = signatureOf(headers);
  for (const [how, value] of Object.entries(which ? spellings(headers[which]) : {}))
    if (value !== headers[which]) await told(name, how, '', { ...headers, [which]: value }, raw);
  for (const late of [-600, -290, -170, 170, 290, 600]) {
    shift = late;
    await told(name, `clock${late > 0 ? '+' : ''}${late}`, '', await signed(), raw);
    shift = 0;
  }
  console.log('{}');
}

async function make(name) {
  const provider = PROVIDERS[name];
  const query = provider.query ? provider.query() : '';
  const body = await provider.body();
  const headers = { ...(await provider.sign({ body, url: URL_BASE + name + query })), ...(provider.more ? provider.more() : {}) };
  const raw = Buffer.from(body);
  await told(name, 'signed', query, headers, raw);
  await told(name, 'body', query, headers, changed(raw, provider.flip));
  if (provider.signature) await told(name, 'signature', query, headers, forgedBody(provider, raw));
  else await told(name, 'signature', query, forgedHeaders(headers), raw);
}

console.log(JSON.stringify(Object.fromEntries(Object.entries(PROVIDERS).map(([k, p]) =>
  [k, { secrets: p.secrets, by: p.by, url: p.url ? URL_BASE + k : null }]))));
for await (const asked of createInterface({ input: process.stdin })) {
  const { provider, n } = JSON.parse(asked);
  if (n === 0) await variants(provider);
  for (let i = 0; i < n; i++) await make(provider);
}
