// A webhook receiver in Node that does Pawl's job: verify, one transaction for the requests that came meanwhile, the order
// moved under a guard, the outbox filled, the answer after the COMMIT. Settings: PORT, PGHOST, PGDATABASE, PGUSER, SECRET.
import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'

const SOURCE = 'shop'
const BATCH_ROWS = 256
const STEPS = { 'order.s1': 1, 'order.s2': 2, 'order.s3': 3, 'order.s4': 4 }
const webhook = new Webhook(process.env.SECRET)
const db = new pg.Client({ port: 5432 })
await db.connect()

const statements = {
  keys: `INSERT INTO inbox (source, event_id, fingerprint, type, headers, body)
    SELECT $1, e, f, t, h::jsonb, b FROM unnest($2::text[], $3::bytea[], $4::text[], $5::text[], $6::bytea[]) u(e, f, t, h, b)
    ORDER BY e ON CONFLICT DO NOTHING RETURNING event_id`,
  repeats: 'INSERT INTO repeats (source, event_id, fingerprint) SELECT $1, e, f FROM unnest($2::text[], $3::bytea[]) u(e, f)',
  create: 'INSERT INTO orders (order_id) SELECT o FROM unnest($1::text[]) u(o) ORDER BY o ON CONFLICT DO NOTHING',
  lock: 'SELECT order_id, state, version FROM orders WHERE order_id = ANY($1::text[]) ORDER BY order_id FOR UPDATE',
  update: `UPDATE orders o SET state = u.s, version = u.v, contact = u.c::jsonb, data = u.d::jsonb, updated_at = now()
    FROM unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::text[], $6::text[]) u(o, v0, s, v, c, d)
    WHERE o.order_id = u.o AND o.version = u.v0`,
  moves: `INSERT INTO moves (order_id, source, event_id, outcome, from_state, to_state, version)
    SELECT o, $1, e, r, f, t, v FROM unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::int[])
      u(o, e, r, f, t, v)`,
  outbox: `INSERT INTO outbox (once, type, order_id, event_id, channel, address, data)
    SELECT k, t, o, e, 'email', a, d::jsonb FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
      u(k, t, o, e, a, d) ORDER BY k ON CONFLICT DO NOTHING`
}
const run = (name, ...values) => db.query({ name, text: statements[name], values })

// The events of one order on its running state, in the order they came.
function judge(events, orders) {
  const moves = [], notes = [], changed = new Map()
  for (const e of events) {
    const order = orders.get(e.order)
    const from = order.state
    const outcome = e.step <= from ? 'already_done' : e.step === from + 1 ? 'applied' : 'early'
    if (outcome === 'applied') {
      if (!changed.has(e.order)) changed.set(e.order, { order, version0: order.version })
      order.state = e.step
      order.version++
      order.contact = JSON.stringify({ email: e.email })
      order.data = JSON.stringify({ total: e.total })
      notes.push({ once: `reached-s${e.step}/${e.order}`, type: `reached-s${e.step}`, e,
        data: JSON.stringify({ order: { id: e.order, state: `s${e.step}` }, event: { id: e.id, type: e.type, source: SOURCE },
          contact: { email: e.email }, data: { total: e.total } }) })
    }
    moves.push({ e, outcome, from, to: e.step, version: order.version })
  }
  return { moves, notes, changed: [...changed.values()] }
}

async function store(batch) {
  const first = new Map()
  for (const e of batch) if (!first.has(e.id)) first.set(e.id, e)
  const leads = [...first.values()]
  await db.query('BEGIN')
  const won = new Set((await run('keys', SOURCE, leads.map(e => e.id), leads.map(e => e.fingerprint), leads.map(e => e.type),
    leads.map(e => e.headers), leads.map(e => e.body))).rows.map(r => r.event_id))
  const fresh = leads.filter(e => won.has(e.id))
  const again = batch.filter(e => !won.has(e.id) || first.get(e.id) !== e)
  if (again.length) await run('repeats', SOURCE, again.map(e => e.id), again.map(e => e.fingerprint))
  if (fresh.length) {
    const ids = [...new Set(fresh.map(e => e.order))].sort()
    await run('create', ids)
    const orders = new Map((await run('lock', ids)).rows.map(o => [o.order_id, o]))
    const { moves, notes, changed } = judge(fresh, orders)
    if (changed.length) {
      const done = await run('update', changed.map(c => c.order.order_id), changed.map(c => c.version0),
        changed.map(c => c.order.state), changed.map(c => c.order.version), changed.map(c => c.order.contact),
        changed.map(c => c.order.data))
      if (done.rowCount !== changed.length) throw new Error('an order moved meanwhile')
    }
    await run('moves', SOURCE, moves.map(m => m.e.order), moves.map(m => m.e.id), moves.map(m => m.outcome),
      moves.map(m => m.from), moves.map(m => m.to), moves.map(m => m.version))
    if (notes.length) {
      await run('outbox', notes.map(n => n.once), notes.map(n => n.type), notes.map(n => n.e.order), notes.map(n => n.e.id),
        notes.map(n => n.e.email), notes.map(n => n.data))
    }
  }
  await db.query('COMMIT')
}

// While one batch is in flight the next gathers.
let waiting = [], busy = false
async function drain() {
  busy = true
  while (waiting.length) {
    const batch = waiting.splice(0, BATCH_ROWS)
    try {
      await store(batch)
      for (const e of batch) e.resolve(200)
    } catch (error) {
      console.error(error.message)
      await db.query('ROLLBACK').catch(() => process.exit(1))
      for (const e of batch) e.resolve(503)
    }
  }
  busy = false
}
const accept = event => new Promise(resolve => {
  event.resolve = resolve
  waiting.push(event)
  if (!busy) drain()
})

const app = Fastify({ logger: false, bodyLimit: 256 * 1024 })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))
app.post('/hooks/shop', async (request, reply) => {
  let event
  try {
    event = webhook.verify(request.body, request.headers)
  } catch {
    return reply.code(401).send({ error: 'signature' })
  }
  const step = STEPS[event.type]
  if (!step) return reply.code(200).send({ ok: true })
  const { 'webhook-signature': signature, host, ...headers } = request.headers
  const status = await accept({
    id: request.headers['webhook-id'], type: event.type, step, order: event.data.order.id, total: event.data.order.total,
    email: event.data.customer.email, headers: JSON.stringify(headers), body: request.body,
    fingerprint: createHash('sha256').update(request.body).digest()
  })
  return reply.code(status).send({ ok: status === 200 })
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 1024 })
console.log('ready')
