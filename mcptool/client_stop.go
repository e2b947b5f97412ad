package mcptool

import (
	"fmt"
	"sync"
)

// talk remembers a request that runs, until talked.
func (c *client) talk(d *dialogue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.talks[d] = false
}

func (c *client) talked(d *dialogue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.talks, d)
}

// person says whether a request waits for a person. One that does is not waited
// for when the gateway closes, or its client has gone.
func (d *dialogue) person(waits bool) {
	c := d.client
	c.mu.Lock()
	if _, runs := c.talks[d]; runs {
		c.talks[d] = waits
	}
	why := c.deserted
	c.mu.Unlock()
	if waits && why != nil {
		d.cancel(why)
	}
}

// desert stops what waits for a person or for the client, now and later: nobody
// knows when it would end. It is described at room.
func (c *client) desert(why error) {
	c.mu.Lock()
	if c.deserted == nil {
		c.deserted = why
		close(c.shuts)
	}
	var waiting []*dialogue
	for d, person := range c.talks {
		if person {
			waiting = append(waiting, d)
		}
	}
	for h := range c.hearing {
		h.finish()
	}
	c.mu.Unlock()
	for _, d := range waiting {
		d.cancel(why)
	}
}

// talking are the requests that run.
func (c *client) talking() []*dialogue {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*dialogue, 0, len(c.talks))
	for d := range c.talks {
		list = append(list, d)
	}
	return list
}

// giveUp answers the requests that do not end although they were stopped: who
// made one is told before its stream ends.
func (c *client) giveUp(why error) {
	var telling sync.WaitGroup
	for _, d := range c.talking() {
		telling.Go(func() { // a client that does not read keeps it for as long as its transport lets it
			d.close(message{fault: &Fault{
				Code:    codeInternal,
				Message: fmt.Sprintf("%s while the request ran, and it did not stop in time: it may or may not have had its effect", why),
			}})
		})
	}
	telling.Wait()
}
