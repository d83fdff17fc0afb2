import { afterAll, beforeAll, test } from 'bun:test'
import { type Rig, rig, START_MS } from './test/rig.ts'
import { table } from './test/table.ts'

let on: Rig
beforeAll(async () => {
  on = await rig()
}, START_MS)
afterAll(() => on.close(), START_MS)

test('money comes in once, is held, and what was not used is free again', () =>
  table(
    on,
    `
credit  alice  100  sig:1   → posted
credit  alice  100  sig:1   → posted (the same answer)
credit  alice   90  sig:1   → refused: id_reused
hold    alice   60  req:1   → held
hold    alice   60  req:2   → refused: insufficient_credits
settle  req:1   45          → posted, 15 freed
balance alice               → posted 55, held 0
`,
  ))

test('the same id with the same content gets the first answer again, whatever happened since', () =>
  table(
    on,
    `
hold    bob   60  req:1     → refused: insufficient_credits
credit  bob  100  sig:1     → posted
hold    bob   60  req:1     → refused: insufficient_credits (the same answer)
hold    bob   60  req:2     → held
settle  req:2  10           → posted, 50 freed
hold    bob   60  req:2     → held (the same answer)
settle  req:2  10           → posted (the same answer)
balance bob                 → posted 90, held 0
`,
  ))

test('the same id with other content is refused, and changes nothing', () =>
  table(
    on,
    `
credit  bob  100  sig:1          → posted
hold    bob   60  req:1          → held
hold    bob   61  req:1          → refused: id_reused
hold    eve   60  req:1          → refused: id_reused
settle  req:1  10                → posted, 50 freed
settle  req:1  11                → refused: id_reused
release req:1                    → refused: hold_closed
adjust  bob  -10  op:1           → posted
adjust  bob  -11  op:1           → refused: id_reused
balance bob                      → posted 80, held 0
balance eve                      → posted 0, held 0
`,
  ))

test('a hold grants between its bounds: half of what is available, never below the least, never above the most', () =>
  table(
    on,
    `
credit  carol  100  sig:1         → posted
hold    carol  10..40   req:1     → held 40
hold    carol  10..40   req:2     → held 30
hold    carol  20..40   req:3     → held 20
hold    carol  11..40   req:4     → refused: insufficient_credits
hold    carol  10..40   req:5     → held 10
hold    carol   0..40   req:6     → held 0
balance carol                     → posted 100, held 100
`,
  ))

test('a charge takes what was used: from the hold, then from what is available; the rest is recorded as short', () =>
  table(
    on,
    `
credit  dave  100  sig:1    → posted
hold    dave   30  req:1    → held
settle  req:1  30           → posted, 0 freed
hold    dave   30  req:2    → held
settle  req:2  50           → posted, 0 freed
hold    dave   10  req:3    → held
settle  req:3  25           → posted, 5 short
balance dave                → posted 0, held 0
`,
  ))

test('one settle, release or expiry closes a hold, and exactly one', () =>
  table(
    on,
    `
credit  erin  100  sig:1          → posted
hold    erin   10  req:1          → held
settle  req:1   4                 → posted, 6 freed
settle  req:1   4  second         → refused: hold_closed
release req:1                     → refused: hold_closed
expire  req:1                     → skipped
extend  req:1   4                 → refused: hold_closed
hold    erin   10  req:2          → held
release req:2                     → posted, 10 freed
settle  req:2   4                 → refused: hold_closed
hold    erin  900  req:3          → refused: insufficient_credits
release req:3                     → refused: hold_closed
balance erin                      → posted 96, held 0
`,
  ))

test('a release that overtakes its hold refuses the hold that comes later', () =>
  table(
    on,
    `
credit  fay  100  sig:1         → posted
release req:1  by fay           → posted, 0 freed
hold    fay   10  req:1         → refused: hold_closed
hold    fay   10  req:1         → refused: hold_closed (the same answer)
settle  req:1  4                → refused: hold_closed
balance fay                     → posted 100, held 0
`,
  ))

test('nobody settles or releases the hold of another account', () =>
  table(
    on,
    `
credit  gil  100  sig:1         → posted
hold    gil   10  req:1         → held
settle  req:1  4   evil by eve  → refused: unknown_hold
release req:1  by eve           → refused: unknown_hold
balance gil                     → posted 100, held 10
`,
  ))

test('a hold expires when nobody extends it, charges the cost so far, and not before', () =>
  table(
    on,
    `
credit  hal  100  sig:1       → posted
hold    hal   40  req:1       → held
expire  req:1                 → skipped
later   50s
extend  req:1  7              → extended
later   50s
expire  req:1                 → skipped
extend  req:1  5              → extended
later   61s
expire  req:1                 → posted, 7 charged
expire  req:1                 → posted, 7 charged (the same answer)
extend  req:1  9              → refused: hold_closed
release req:1                 → refused: hold_closed
balance hal                   → posted 93, held 0
`,
  ))

test('a settlement after the expiry charges what is still owed, once, out of what is available', () =>
  table(
    on,
    `
credit  ida  100  sig:1          → posted
hold    ida   40  req:1          → held
extend  req:1  7                 → extended
later   61s
expire  req:1                    → posted, 7 charged
settle  req:1  30                → posted
balance ida                      → posted 70, held 0
settle  req:1  30  second        → refused: hold_closed
hold    ida   40  req:2          → held
later   61s
expire  req:2                    → posted, 0 charged
hold    ida   60  req:3          → held
settle  req:2  30                → posted, 20 short
settle  req:3  90                → posted, 30 short
balance ida                      → posted 0, held 0
`,
  ))

test('what an expiry charged by a cost that was only counted, and too high, is given back by the settlement', () =>
  table(
    on,
    `
credit  liv  100  sig:1        → posted
hold    liv   40  req:1        → held
extend  req:1  25              → extended
later   61s
expire  req:1                  → posted, 25 charged
balance liv                    → posted 75, held 0
settle  req:1  10              → posted
settle  req:1  10              → posted (the same answer)
balance liv                    → posted 90, held 0
`,
  ))

test('what an expiry could not cover counts once when the settlement comes', async () => {
  await table(
    on,
    `
credit  jan  100  sig:1        → posted
hold    jan   40  req:1        → held
extend  req:1  70              → extended
hold    jan   50  req:2        → held
later   61s
expire  req:1                  → posted, 50 charged, 20 short
shortfall jan                  → 20
credit  jan   15  sig:2        → posted
settle  req:1  75              → posted, 10 short
shortfall jan                  → 10
settle  req:2  50              → posted, 0 freed
balance jan                    → posted 0, held 0
`,
  )
})

test("a key's cap is as hard as the balance: open holds count against it", () =>
  table(
    on,
    `
credit  kim  1000  sig:1          → posted
cap     kim  k  100               → set
hold    kim   60   req:1  k       → held
hold    kim   60   req:2  k       → refused: cap_reached
hold    kim   10..90  req:3  k    → held 20
hold    kim   60   req:4          → held
settle  req:1   55                → posted, 5 freed
spend   kim  k                    → spent 55, held 20
settle  req:3   90                → posted, 45 short
spend   kim  k                    → spent 100, held 0
hold    kim    1   req:5  k       → refused: cap_reached
cap     kim  k  none              → set
hold    kim    1   req:6  k       → held
balance kim                       → posted 900, held 61
`,
  ))

test('of several reasons the first is told: key closed, cap reached, too little money', () =>
  table(
    on,
    `
cap     lea  k  10                → set
hold    lea  20  req:1  k         → refused: cap_reached
cap     lea  k  30                → set
hold    lea  20  req:2  k         → refused: insufficient_credits
close   lea  k                    → closed
hold    lea  20  req:3  k         → refused: key_closed
`,
  ))

test('a closed key gets no hold, even one that the ledger had never seen; its open holds settle', () =>
  table(
    on,
    `
credit  max  100  sig:1        → posted
hold    max   10  req:1  k     → held
close   max  k                 → closed
close   max  k                 → closed (the same answer)
hold    max   10  req:2  k     → refused: key_closed
settle  req:1  8               → posted, 2 freed
close   max  other             → closed
hold    max   10  req:3  other → refused: key_closed
cap     max  other 50          → set
hold    max   10  req:4  other → refused: key_closed
`,
  ))

test('a window starts anew by itself, and a hold counts in the window that granted it', () =>
  table(
    on,
    `
credit  nia  1000  sig:1          → posted
cap     nia  k  100  daily        → set
hold    nia   60  req:1  k        → held
hold    nia   40  req:2  k        → held
settle  req:1  60                 → posted, 0 freed
hold    nia    1  req:3  k        → refused: cap_reached
later   1 day
spend   nia  k                    → spent 0, held 0
hold    nia   90  req:4  k        → held
settle  req:2  50                 → posted, 10 short
spend   nia  k                    → spent 0, held 90
settle  req:4  30                 → posted, 60 freed
spend   nia  k                    → spent 30, held 0
balance nia                       → posted 870, held 0
`,
  ))

test('another window begins when it is set; without one the whole life of the key counts', () =>
  table(
    on,
    `
credit  ola  1000  sig:1          → posted
cap     ola  k  100               → set
hold    ola   60  req:1  k        → held
hold    ola   20  req:2  k        → held
settle  req:1  60                 → posted, 0 freed
cap     ola  k  100  monthly      → set
spend   ola  k                    → spent 0, held 0
hold    ola  100  req:3  k        → held
settle  req:3  70                 → posted, 30 freed
settle  req:2  20                 → posted, 0 freed
spend   ola  k                    → spent 70, held 0
later   31 days
spend   ola  k                    → spent 0, held 0
cap     ola  k  180               → set
spend   ola  k                    → spent 150, held 0
hold    ola   31  req:4  k        → refused: cap_reached
hold    ola   30  req:5  k        → held
`,
  ))

test('an adjustment never takes what is held or what is not there', () =>
  table(
    on,
    `
adjust  pia   50  op:1            → posted
hold    pia   30  req:1           → held
adjust  pia  -21  op:2            → refused: insufficient_credits
adjust  pia  -21  op:2            → refused: insufficient_credits (the same answer)
adjust  pia  -20  op:3            → posted
balance pia                       → posted 30, held 30
`,
  ))
